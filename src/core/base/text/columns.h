// Formats rows of text as a table.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

enum class Flush { left, right };

// Columns are two spaces apart, and each is as wide on a terminal as its widest entry. All rows
// must have the same number of entries. `printable` is applied to each entry. The last column is
// not padded. Each row ends with a newline.
std::string columns(std::vector<std::vector<std::string>> rows, Flush flush = Flush::left);

}  // namespace lockstep
