// Files of other forms than JSON Lines, recognised by how they begin.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::dimabsa {

// Throws Error, which names the form and how to convert it, if a file plainly is no JSON Lines.
// Such forms are UTF-16 and UTF-32, XML, one JSON list, an object over several lines, and the lines
// of ASTE (also of ASQP) and of ACOS. Looks at the first line, even if it is blank. texts: the
// file's lines may be texts, so that a bracket alone makes no list.
void refuse_other_forms(std::string_view file, const std::string& name, bool texts = false);

}  // namespace lockstep::dimabsa
