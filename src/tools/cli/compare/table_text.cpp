#include "tools/cli/compare/table_text.h"

#include "core/base/text/cells.h"
#include "core/base/text/columns.h"
#include "core/base/text/text.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace lockstep::cli {
namespace {

constexpr int widest_cell = 100, widest_row = 140;

std::string shortened(const std::string& cell) {
  if (cell.empty()) return "-";
  const bool fraction = cell.find('.') != std::string::npos;
  const std::optional<double> number = fraction ? to_number(cell) : std::nullopt;
  return number ? general(*number, 4) : cell;
}

}  // namespace

// Formats a table. Columns with long texts leave space for the others.
std::string table_text(const CsvTable& table, const ShownPart& shown) {
  const std::size_t count = std::min(shown.rows, table.rows.size());
  std::vector<std::vector<std::string>> cells(count + 1);
  int used = 0;
  for (std::size_t i = 0; i < table.columns.size() && cells[0].size() < shown.columns; ++i) {
    std::vector<std::string> column{table.columns[i]};
    for (std::size_t row = 0; row < count; ++row)
      column.push_back(cut_cells(clean_cells(shortened(table.rows[row][i])), widest_cell, "…"));
    int width = 0;
    for (const std::string& cell : column) width = std::max(width, cells_of(cell));
    if (used > 0 && used + width > widest_row) continue;
    used += width + 2;
    for (std::size_t row = 0; row <= count; ++row) cells[row].push_back(std::move(column[row]));
  }
  return columns(cells);
}

}  // namespace lockstep::cli
