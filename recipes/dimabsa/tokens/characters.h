// Properties of characters that BERT's tokenizer needs, as in Hugging Face's `tokenizers` 0.22 and
// 0.23. That library mixes tables of several Unicode versions (characters.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::dimabsa {

// A character of a text that may have been normalized. begin, end: the bytes of the original text
// from which it comes. Several characters may come from the same bytes.
struct Character {
  char32_t value = 0;
  std::uint32_t begin = 0, end = 0;
};
using Characters = std::vector<Character>;

// Returns the characters of a UTF-8 text. Each invalid part becomes one U+FFFD.
Characters characters_of(std::string_view text);

bool is_white(char32_t character);  // Unicode's White_Space
// True for control, format and private-use characters. False for tab, line feed and carriage
// return.
bool is_control(char32_t character);
bool is_punctuation(char32_t character);  // includes all ASCII symbols
bool is_mark(char32_t character);         // Unicode's category Mn
bool is_any_mark(char32_t character);     // Unicode's Mn, Mc and Me
bool is_word(char32_t character);         // as \w in regular expressions
bool is_chinese(char32_t character);      // ideographs, but not kana or Hangul

// Returns the canonical decomposition (NFD), which has one to four characters.
std::u32string decomposed(char32_t character);
std::u32string compatibly_decomposed(char32_t character);  // NFKD
int combining_class(char32_t character);
// Returns the character into which NFC composes two characters, or 0 if it does not compose them.
char32_t composed(char32_t first, char32_t second);
// Returns the end of the grapheme cluster that begins at the character `begin`. A grapheme cluster
// is what a reader sees as one character.
std::size_t cluster_end(const Characters& text, std::size_t begin);
// Returns the lower case of a character. For İ, it has two characters: i and a combining dot.
// Neighbouring characters are not considered, so Σ always becomes σ.
std::u32string lower(char32_t character);

}  // namespace lockstep::dimabsa
