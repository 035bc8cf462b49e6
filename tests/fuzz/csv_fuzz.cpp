// Tables. Each row of an accepted table has a cell for every column. The table is the same after
// writing and reading it again.
#include "fuzz.h"

#include "core/media/csv_table.h"
#include "runtime/run/predictions/item_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  CsvTable table;
  if (!fuzz::accepts([&] { table = parse_csv(fuzz::text_of(data, size), "input"); })) return 0;
  LOCKSTEP_CHECK(table.rows.size() == table.lines.size());
  std::string written = csv_line({table.columns.begin(), table.columns.end()});
  for (const std::vector<std::string>& row : table.rows) {
    LOCKSTEP_CHECK(row.size() == table.columns.size());
    written += csv_line({row.begin(), row.end()});
    for (const std::string& cell : row) (void)to_number(cell);
  }
  const CsvTable again = parse_csv(written, "written", {.separator = ','});
  LOCKSTEP_CHECK(again.columns == table.columns);
  LOCKSTEP_CHECK(again.rows == table.rows);
  return 0;
}
