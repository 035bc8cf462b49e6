// Checks by its letters whether a text may be in a language.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::dimabsa {

// Whether the text holds a letter of a script of the language ("eng", "zho", "jpn", "rus", …), or
// no letter of any script known here. True for languages that are not known here.
bool fits_language(std::string_view text, const std::string& language);

}  // namespace lockstep::dimabsa
