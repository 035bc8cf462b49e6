// What gpu.csv says of the devices of a run or batch: clocks, tenants, energy, balance.
#pragma once

#include "report/facts.h"

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
  std::optional<int> other_processes;             // at most
  std::map<std::string, double> throttled_share;  // by reason: "power", "heat"; without "none"
  bool throttling_known = false;
};

using TimeSpans = std::vector<std::pair<double, double>>;  // unix seconds, by begin

// Over the samples of all files within these spans. A missing file has no devices; the last line
// may be torn. Throws Error where a file is no such table.
std::vector<GpuUse> read_gpu_use(const std::vector<std::filesystem::path>& gpu_csvs,
                                 const TimeSpans& spans);

// Facts of place, and quantities: energy, how busy, balance, memory. Nothing of no devices.
void add_gpu_facts(const std::vector<GpuUse>& devices, Trial& trial);

// Below it a device counts as idle, in percent.
inline constexpr double idle_percent = 2;

}  // namespace lockstep
