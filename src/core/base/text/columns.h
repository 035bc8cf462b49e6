// Rows of text as a table.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

enum class Flush { left, right };

// Columns are two spaces apart, each as wide as its widest cell on a terminal. All rows must have
// the same number of cells. Cells are shown as `printable` gives them. The last column has no
// padding. Each row ends with a newline.
std::string columns(std::vector<std::vector<std::string>> rows, Flush flush = Flush::left);

}  // namespace lockstep
