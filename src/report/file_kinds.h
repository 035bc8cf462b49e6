// What a file is that is no log, by how it begins: for messages.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// "a gzip archive", "empty"; "": it may be a log as text. head: at least 4 KiB, or all there is.
std::string kind_of_no_text(std::string_view head);

}  // namespace lockstep
