// Letters of any script: their case, and whether a word goes on from one to the next.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::dimabsa {

// Unicode's simple lower case of each character, and the full one of U+0130, as Python's
// str.lower() has it. Only a sigma at a word's end differs from Python. Bytes that are no UTF-8
// stay.
std::string lower_case(std::string_view text);
// The lower case of one character. U+0130 becomes "i", so that one character stays one.
char32_t lower_case(char32_t character);

// Letters with a case, digits and marks. Words of several characters are made of them. Not Chinese
// characters, kana or Hangul: between two of them a phrase may end anywhere.
bool joins_words(char32_t character);

}  // namespace lockstep::dimabsa
