// Reads a CSV file's numbers by column, without a text per cell: a log may have millions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/report/logs/foreign_log.h"

namespace lockstep {

struct CsvNumbers {
  ForeignTable table;                // columns in file order, including those without numbers
  std::vector<std::string> notes;    // about columns with cells that are neither numbers nor empty
  std::vector<std::string> refused;  // the same for columns without any number
};

// Accepts what parse_csv (core/media/csv_table.h) accepts, and also columns without a name. Skips
// an incomplete last line, and repeated headers, as after a restart. Empty cells, and NA, None and
// the like, give no number. If the separator is not a comma, numbers may have a decimal comma.
// Texts in a column of times are read by seconds_of_text. Throws Error, which names file and line.
CsvNumbers read_csv_numbers(std::string_view text, const std::string& name);

}  // namespace lockstep
