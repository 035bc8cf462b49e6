// Shows a table from a file as text for a terminal.
#pragma once

#include "core/media/csv_table.h"

#include <cstddef>
#include <string>

namespace lockstep::cli {

struct ShownPart {
  std::size_t rows = 8, columns = 12;  // largest numbers of rows and columns that are shown
};

// Returns the header and the first rows, a line each. Numbers are shortened, and long texts are
// cut. Columns that do not fit into a line of 140 terminal cells are left out.
std::string table_text(const CsvTable& table, const ShownPart& shown);

}  // namespace lockstep::cli
