// A table from a file, as text for a terminal.
#pragma once

#include "core/media/csv_table.h"

#include <cstddef>
#include <string>

namespace lockstep::cli {

struct ShownPart {
  std::size_t rows = 8, columns = 12;  // the most shown
};

// Shows the header and the first rows, a line each. Numbers are shortened, and long texts are cut.
// Columns that do not fit into a line of 140 cells are left out.
std::string table_text(const CsvTable& table, const ShownPart& shown);

}  // namespace lockstep::cli
