#include "base/columns.h"

#include <algorithm>

namespace lockstep {

std::string columns(const std::vector<std::vector<std::string>>& rows, Flush flush) {
  std::string text;
  if (rows.empty()) return text;
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      text += (flush == Flush::right ? padding + row[i] : row[i] + padding) + "  ";
    }
    text += row.back() + "\n";
  }
  return text;
}

}  // namespace lockstep
