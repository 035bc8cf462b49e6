// Letters of any script: their lower case, and which characters form words.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::dimabsa {

// Unicode's simple lower case of each character, but for U+0130 the full one, as in Python's
// str.lower(). Only a sigma at a word's end differs from Python. Bytes that are not UTF-8 stay.
std::string lower_case(std::string_view text);
// The lower case of one character. U+0130 becomes "i", so the result is one character.
char32_t lower_case(char32_t character);

// True for letters with a case, digits and marks, which join into words of several characters.
// False for Chinese characters, kana and Hangul: a phrase may end between any two of them.
bool joins_words(char32_t character);

}  // namespace lockstep::dimabsa
