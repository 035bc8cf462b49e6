// Converts a line of YAML, or of a shell file that sets variables, to a line of TOML.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::detail {

// Converts `num_leaves: 255` to `num_leaves = 255`, `export NAME=fast` to `NAME = "fast"`, and
// `training:` to `[training]`. Returns an empty text for a line in any other form.
std::string as_toml_line(std::string_view line);

}  // namespace lockstep::detail
