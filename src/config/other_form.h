// A line of YAML, or of a file of variables for a shell, as a line of TOML.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::detail {

// "num_leaves: 255" becomes "num_leaves = 255", "export NAME=fast" NAME = "fast", "training:"
// [training]. Empty where the line is of neither form.
std::string as_toml_line(std::string_view line);

}  // namespace lockstep::detail
