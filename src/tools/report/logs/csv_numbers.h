// Reads the numbers of a CSV file by column. It makes no text for each cell, because a log may have
// millions of cells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/report/logs/foreign_log.h"

namespace lockstep {

struct CsvNumbers {
  ForeignTable table;  // columns in the order of the file, including columns without numbers
  // a note for each column that also has cells which are neither numbers nor empty
  std::vector<std::string> notes;
  // a note for each column that has only cells which are neither numbers nor empty
  std::vector<std::string> refused;
};

// Accepts the texts that parse_csv() (core/media/csv_table.h) accepts, and also columns without a
// name. Skips an incomplete last line, and headers that are repeated, as after a restart. Empty
// cells, and words such as NA and None, give no number. If the separator is not a comma, numbers
// may have a decimal comma. Texts in a column of times are read by seconds_of_text(). Throws Error
// if the text is not such a table. The error names the file, and the line if one is faulty.
CsvNumbers read_csv_numbers(std::string_view text, const std::string& name);

}  // namespace lockstep
