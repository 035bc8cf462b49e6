// Converts letters of any script to lower case, and tells which characters can be within a word.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::dimabsa {

// Returns the lower case of a text. It equals that of Python's str.lower(), except for a sigma at
// the end of a word. Each character gets Unicode's simple lower case, but U+0130 gets its full
// lower case. Bytes that are not UTF-8 stay as they are.
std::string lower_case(std::string_view text);
// Returns the lower case of a character. U+0130 becomes "i", because the result is one character.
char32_t lower_case(char32_t character);

// Returns true for letters with a case, digits and combining marks. A border of a word is never
// between two such characters, so find_phrase() prefers not to begin or end there. Returns false
// for Chinese characters, kana and Hangul, because a phrase may end between any two of them.
bool joins_words(char32_t character);

}  // namespace lockstep::dimabsa
