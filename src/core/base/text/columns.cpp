#include "core/base/text/columns.h"

#include <algorithm>
#include <utility>

#include "core/base/text/cells.h"
#include "core/base/text/printable.h"

namespace lockstep {

std::string columns(std::vector<std::vector<std::string>> rows, Flush flush) {
  std::string text;
  if (rows.empty()) return text;
  std::vector<int> widths(rows[0].size());
  for (auto& row : rows)
    for (std::string& cell : row) cell = printable(std::move(cell));
  for (const auto& row : rows)
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      widths[i] = std::max(widths[i], cells_of(row[i]));
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      text += (flush == Flush::right ? pad_cells_left : pad_cells)(row[i], widths[i]) + "  ";
    text += row.back() + "\n";
  }
  return text;
}

}  // namespace lockstep
