// Prints a scaling table for users.
#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "runtime/run/progress/progress.h"
#include "runtime/run/progress/progress_text.h"
#include "runtime/run/progress/scaling_table.h"

#include <algorithm>

namespace lockstep {
namespace {

std::string milliseconds(double seconds) {
  const double ms = seconds * 1000;
  return ms < 9.995 ? fixed(ms, 2) : ms < 99.95 ? fixed(ms, 1) : fixed(ms, 0);
}

std::string percent_text(double share) { return cat(fixed(share * 100, 1), "%"); }

std::string bandwidth(double bytes_per_s) { return cat(general(bytes_per_s / 1e9, 3), " GB/s"); }

// One device sends nothing, so the value is absent. On several devices, an absent value is unknown.
std::string absent(const ScalingRow& row) { return row.devices == 1 ? "-" : "unknown"; }

std::string slowest_text(const ScalingRow& row) {
  if (row.slowest) return cat("rank ", *row.slowest);
  return row.devices == 1 ? "-" : row.exposed_share ? "none" : "unknown";
}

std::vector<std::string> cells(const ScalingRow& row) {
  return {cat(row.devices),
          cat(row.batch.global),
          cat(milliseconds(row.median_step_s), " ms"),
          cat(milliseconds(row.p10_step_s), "-", milliseconds(row.p90_step_s)),
          format_rate(row.units_per_s, row.unit),
          percent_text(row.efficiency),
          row.mfu ? percent_text(*row.mfu) : "unknown",
          row.exposed_share ? percent_text(*row.exposed_share) : absent(row),
          row.all_reduce ? bandwidth(row.all_reduce->algorithm_bytes_per_s()) : absent(row),
          row.all_reduce ? bandwidth(row.all_reduce->bus_bytes_per_s(row.devices)) : absent(row),
          row.link ? cat(bandwidth(row.link->bytes_per_s), " ", row.link->kind) : absent(row),
          slowest_text(row)};
}

}  // namespace

std::string scaling_text(const std::vector<ScalingRow>& rows) {
  std::vector<std::vector<std::string>> table = {{"DEVICES", "BATCH", "STEP", "P10-P90", "SPEED",
                                                  "EFFICIENCY", "MFU", "EXPOSED", "ALL-REDUCE",
                                                  "BUS", "LINK", "SLOWEST"}};
  for (const ScalingRow& row : rows) table.push_back(cells(row));
  std::string text;
  for (const std::vector<std::string>& line : table) {
    std::string shown;
    for (std::size_t column = 0; column < line.size(); ++column) {
      int width = 0;
      for (const auto& other : table) width = std::max(width, cells_of(other[column]));
      shown += cat(column == 0 ? "" : "  ", pad_cells_left(line[column], width));
    }
    text += shown + "\n";
  }
  return text;
}

}  // namespace lockstep
