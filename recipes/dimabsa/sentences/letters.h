// Converts letters of any script to lower case, and finds out which characters form words.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::dimabsa {

// Returns the lower case of a text as Python's str.lower(), except for a sigma at the end of a
// word. Each character gets Unicode's simple lower case, but U+0130 gets its full lower case. Bytes
// that are not UTF-8 stay as they are.
std::string lower_case(std::string_view text);
// Returns the lower case of a character. U+0130 becomes "i", because the result is one character.
char32_t lower_case(char32_t character);

// Whether words consist of such characters. find_phrase() prefers phrases that do not begin or end
// between two of them. True for letters with a case, digits and combining marks. False for Chinese
// characters, kana and Hangul, because a phrase may end between any two of them.
bool joins_words(char32_t character);

}  // namespace lockstep::dimabsa
