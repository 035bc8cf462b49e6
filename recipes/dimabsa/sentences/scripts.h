// Checks whether a text may be in a language, by the scripts of its letters.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::dimabsa {

// Returns whether a text may be in `language`, for example "eng" or "zho". The result is true if
// the text has a letter of a script of this language. It is also true if the text has no letter of
// any script that scripts.cpp lists. It is always true for languages that scripts.cpp does not
// list.
bool fits_language(std::string_view text, const std::string& language);

}  // namespace lockstep::dimabsa
