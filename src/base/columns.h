// Rows of text as a table.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

enum class Flush { left, right };

// Columns two spaces apart, each as wide as its widest cell on a terminal; rows of one length,
// cells as `printable`, the last column without padding. A newline after each row.
std::string columns(std::vector<std::vector<std::string>> rows, Flush flush = Flush::left);

}  // namespace lockstep
