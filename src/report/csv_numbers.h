// The numbers of a CSV file by column, without a text per cell: a log has millions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/foreign_log.h"

namespace lockstep {

struct CsvNumbers {
  ForeignTable table;                // columns in the order of the file, those without numbers too
  std::vector<std::string> notes;    // of columns with cells that are neither numbers nor empty
  std::vector<std::string> refused;  // likewise, of those without any number
};

// As parse_csv (media/csv_table.h) takes a file, and besides: columns without a name; a last line
// that is not whole is left out; the line of names again, as at a restart, is skipped. Cells that
// are empty, or NA, None and the like, have no number. Where another separator than , stands
// between cells, a number may have a decimal comma. A text in a column of times is one of
// seconds_of_text. Throws Error, which names file and line.
CsvNumbers read_csv_numbers(std::string_view text, const std::string& name);

}  // namespace lockstep
