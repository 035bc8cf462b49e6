// A table of a file as text for a terminal.
#pragma once

#include "media/csv_table.h"

#include <cstddef>
#include <string>

namespace lockstep::cli {

struct ShownPart {
  std::size_t rows = 8, columns = 12;  // at most
};

// The names and the first rows, a line each. Numbers are shortened, long texts cut; columns for
// which a line of 140 cells has no room are left out.
std::string table_text(const CsvTable& table, const ShownPart& shown);

}  // namespace lockstep::cli
