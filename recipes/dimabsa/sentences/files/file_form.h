// Recognises files that are not JSON Lines by how they begin.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::dimabsa {

// Throws Error if a file is plainly not JSON Lines. The Error names the form and how to convert it.
// Such forms are UTF-16 and UTF-32, XML, one JSON list, an object over several lines, and the lines
// of ASTE (also of ASQP) and of ACOS. Looks at the first line, even if it is blank. texts: whether
// the file's lines may be plain texts. A bracket alone then does not make the file a list.
void refuse_other_forms(std::string_view file, const std::string& name, bool texts = false);

}  // namespace lockstep::dimabsa
