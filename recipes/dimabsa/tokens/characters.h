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

// Each invalid part of the UTF-8 becomes one U+FFFD.
Characters characters_of(std::string_view text);

bool is_white(char32_t character);  // Unicode's White_Space
// also format and private-use characters; not tab and line ends
bool is_control(char32_t character);
bool is_punctuation(char32_t character);  // also all of ASCII that is no letter, digit or space
bool is_mark(char32_t character);         // Unicode's Mn: a mark without a width of its own
bool is_any_mark(char32_t character);     // Mn, Mc, Me
bool is_word(char32_t character);         // \w of regular expressions
bool is_chinese(char32_t character);      // ideographs, not kana and not Hangul

// The canonical decomposition, one to four characters.
std::u32string decomposed(char32_t character);
std::u32string compatibly_decomposed(char32_t character);  // Unicode's NFKD
int combining_class(char32_t character);
// The character into which NFC composes the two; 0: they stay two.
char32_t composed(char32_t first, char32_t second);
// The end of the grapheme cluster that begins at `begin`. A reader sees such a cluster as one
// character.
std::size_t cluster_end(const Characters& text, std::size_t begin);
// The lower case; for İ it includes a combining dot. No rule looks at neighbours, so Σ always
// becomes σ.
std::u32string lower(char32_t character);

}  // namespace lockstep::dimabsa
