// Logs of other programs as CSV. Each number of a column must have its own row. The trial that is
// made from them must have no more points than there are numbers.
#include "fuzz.h"

#include <cmath>

#include "tools/report/logs/csv_numbers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  CsvNumbers numbers;
  if (!fuzz::accepts([&] { numbers = read_csv_numbers(fuzz::text_of(data, size), "f"); })) return 0;
  std::size_t cells = 0;
  for (const ForeignColumn& column : numbers.table.columns) {
    LOCKSTEP_CHECK(column.rows.size() == column.values.size());
    for (std::size_t i = 0; i < column.rows.size(); ++i) {
      LOCKSTEP_CHECK(column.rows[i] < numbers.table.rows);
      LOCKSTEP_CHECK(i == 0 || column.rows[i - 1] < column.rows[i]);
    }
    cells += column.rows.size();
  }
  LOCKSTEP_CHECK(cells <= size);
  Trial trial;
  if (!fuzz::accepts([&] { add_foreign_table(std::move(numbers.table), trial); })) return 0;
  LOCKSTEP_CHECK(trial.curve.size() <= cells);
  for (const char* name : {"train_s", "step_s"})
    if (const Quantity* const time = trial.find(name)) LOCKSTEP_CHECK(!(time->value < 0));
  return 0;
}
