// Converts a line of YAML, or of a shell's file of variables, to a line of TOML.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::detail {

// "num_leaves: 255" becomes "num_leaves = 255", "export NAME=fast" NAME = "fast", "training:"
// [training]. Returns "" for a line of neither form.
std::string as_toml_line(std::string_view line);

}  // namespace lockstep::detail
