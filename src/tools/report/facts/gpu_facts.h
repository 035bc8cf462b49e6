// Facts about the devices of a run or batch from gpu.csv: clocks, tenants, energy, balance.
#pragma once

#include "tools/report/facts/facts.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

struct GpuUse {  // of one device
  std::string uuid;
  int index = 0;
  std::int64_t samples = 0;
  std::optional<double> busy_percent, sm_percent;  // means
  std::optional<double> clock_mhz;                 // mean while it was busy
  std::optional<double> power_limit_w, memory_most_bytes;
  std::optional<double> energy_j;
  std::optional<int> other_processes;             // the largest number
  std::map<std::string, double> throttled_share;  // share of time by reason: "power", "heat";
                                                  // without "none"
  bool throttling_known = false;
};

using TimeSpans = std::vector<std::pair<double, double>>;  // unix seconds, sorted by begin

// Uses the samples of all files within these spans. A missing file gives no devices; the last line
// may be incomplete. Throws Error if a file is not such a table.
std::vector<GpuUse> read_gpu_use(const std::vector<std::filesystem::path>& gpu_csvs,
                                 const TimeSpans& spans);

// Adds facts of place, and quantities: energy, utilisation, balance, memory. Does nothing without
// devices.
void add_gpu_facts(const std::vector<GpuUse>& devices, Trial& trial);

// A device below this percentage counts as idle.
inline constexpr double idle_percent = 2;

}  // namespace lockstep
