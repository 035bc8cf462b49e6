// Finds out from the first bytes of a file whether it is clearly not JSON Lines.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::dimabsa {

// Throws Error if a file is clearly not JSON Lines. The Error names the form of the file, and says
// how to convert it if that is possible. Recognised forms are UTF-16, UTF-32, binary formats and
// XML. Others are one JSON list, an object over several lines, and the lines of ASTE, ASQP and
// ACOS. Only the beginning of the file is examined. texts: whether lines may be plain texts. A
// first bracket alone then does not make the file a JSON list. An object, a text or a closing
// bracket must follow.
void refuse_other_forms(std::string_view file, const std::string& name, bool texts = false);

}  // namespace lockstep::dimabsa
