// Properties of characters that BERT's tokenizer needs, as Hugging Face's `tokenizers` 0.22 and
// 0.23 have them. That library mixes Unicode tables of several ages (characters.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::dimabsa {

// A character of a text and the bytes of the original text that it stands for. Several characters
// may stand for the same bytes.
struct Character {
  char32_t value = 0;
  std::uint32_t begin = 0, end = 0;
};
using Characters = std::vector<Character>;

// Each faulty part of the UTF-8 is one U+FFFD.
Characters characters_of(std::string_view text);

bool is_white(char32_t character);        // Unicode's White_Space
bool is_control(char32_t character);      // also formats and private use; not tab and line ends
bool is_punctuation(char32_t character);  // and all of ASCII that is no letter, digit or space
bool is_mark(char32_t character);         // a mark without a place of its own: Unicode's Mn
bool is_any_mark(char32_t character);     // Mn, Mc, Me
bool is_word(char32_t character);         // \w of regular expressions
bool is_chinese(char32_t character);      // ideographs, not kana and not Hangul

// Canonical decomposition, one to four characters.
std::u32string decomposed(char32_t character);
std::u32string compatibly_decomposed(char32_t character);  // Unicode's NFKD
int combining_class(char32_t character);
// The character that two become in NFC; 0: they stay two.
char32_t composed(char32_t first, char32_t second);
// The place behind the grapheme cluster that begins at `begin`: characters that a reader sees as
// one.
std::size_t cluster_end(const Characters& text, std::size_t begin);
// The small letter; that of İ is followed by its dot. No rule looks at neighbours, so Σ is always
// σ.
std::u32string lower(char32_t character);

}  // namespace lockstep::dimabsa
