#include "tools/cli/batch/batch_screen.h"

#include <algorithm>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "core/config/options.h"

namespace lockstep::cli {
namespace {

std::string gibibytes(std::int64_t bytes) { return fixed(static_cast<double>(bytes) / 0x1p30, 1); }

std::vector<std::string> cells_of_device(const ScreenDevice& device) {
  return {"  " + device.name,
          device.activity_percent ? fixed(*device.activity_percent, 0) + " % active" : "",
          device.total_bytes > 0
              ? cat(gibibytes(device.used_bytes), " of ", gibibytes(device.total_bytes), " GiB")
              : "",
          !device.waits_for.empty() ? "waits for " + device.waits_for
          : device.jobs == 1        ? "1 job"
                                    : cat(device.jobs, " jobs")};
}

std::vector<std::string> cells_of_slot(const ScreenSlot& slot) {
  return {cat("  slot ", slot.slot), slot.where,
          fixed(slot.seconds, slot.seconds < 10 ? 1 : 0) + " s", clean_cells(slot.job)};
}

// Adds rows. Each column is as wide as its widest cell.
void add_rows(const std::vector<std::vector<std::string>>& rows, int width,
              std::vector<std::string>& lines) {
  std::vector<int> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], cells_of(row[i]));
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      if (widths[i] > 0) line += pad_cells(row[i], widths[i] + 2);
    lines.push_back(cut_cells(line + row.back(), width, "…"));
  }
}

}  // namespace

std::vector<std::string> batch_screen(const std::string& counts,
                                      const std::vector<ScreenDevice>& devices,
                                      const std::vector<ScreenSlot>& slots, int width, int height) {
  std::vector<std::string> lines{cut_cells(counts, width, "…")};
  std::vector<std::vector<std::string>> rows;
  for (const ScreenDevice& device : devices) rows.push_back(cells_of_device(device));
  add_rows(rows, width, lines);
  rows.clear();
  const int room = height - static_cast<int>(lines.size());
  const auto all = static_cast<int>(slots.size());
  const int shown = all <= room ? all : std::max(room - 1, 0);
  for (int i = 0; i < shown; ++i) rows.push_back(cells_of_slot(slots[static_cast<std::size_t>(i)]));
  add_rows(rows, width, lines);
  if (shown < all) lines.push_back(cut_cells(cat("  and ", all - shown, " more"), width, "…"));
  if (static_cast<int>(lines.size()) > height)
    lines.resize(static_cast<std::size_t>(std::max(height, 1)));
  return lines;
}

}  // namespace lockstep::cli
