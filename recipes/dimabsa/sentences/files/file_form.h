// Recognises from its first bytes a file that is clearly not JSON Lines.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::dimabsa {

// Throws Error if a file is clearly not JSON Lines. The Error names the form of the file, and says
// how to convert it if that is possible. Recognised forms are UTF-16, UTF-32, binary formats and
// XML. Other recognised forms are one JSON list, and an object over several lines. The lines of the
// data sets ASTE, ASQP and ACOS are also recognised. Only the beginning of the file is examined.
// file: the content of the file. name: the name of the file, for messages. texts: whether lines may
// be plain texts. In that case, a file that begins with "[" counts as a JSON list only if {, " or ]
// follows.
void refuse_other_forms(std::string_view file, const std::string& name, bool texts = false);

}  // namespace lockstep::dimabsa
