// Which language a text may be of, by its letters.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::dimabsa {

// Whether the text holds a letter of a script that the language ("eng", "zho", "jpn", "rus", …) is
// written in, or no letter of any script that is known here. Languages that are not known here:
// always.
bool fits_language(std::string_view text, const std::string& language);

}  // namespace lockstep::dimabsa
