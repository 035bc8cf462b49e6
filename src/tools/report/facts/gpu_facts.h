// Reads facts about the devices of a run or batch from gpu.csv: clocks, other processes, energy,
// balance.
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

struct GpuUse {  // the use of one device
  std::string uuid;
  int index = 0;
  std::int64_t samples = 0;
  std::optional<double> busy_percent, sm_percent;  // means over all samples
  // mean over the samples in which the device was busy, or over all samples if it never was busy
  std::optional<double> clock_mhz;
  std::optional<double> power_limit_w, memory_most_bytes;
  std::optional<double> energy_j;
  // the largest number of processes on the device that do not belong to the run or batch
  std::optional<int> other_processes;
  // share of the time in which clocks were throttled, by reason, such as "power" or "heat"; "none"
  // is left out
  std::map<std::string, double> throttled_share;
  bool throttling_known = false;
};

// begin and end in unix seconds, sorted by begin
using TimeSpans = std::vector<std::pair<double, double>>;

// Reads the samples of all files whose times lie in `spans`. A missing file gives no devices. The
// last line of a file may be incomplete. Throws Error if a file is not a gpu.csv.
std::vector<GpuUse> read_gpu_use(const std::vector<std::filesystem::path>& gpu_csvs,
                                 const TimeSpans& spans);

// Adds facts of the kind `place`, and the quantities energy, utilisation, balance and memory. Does
// nothing if there are no devices.
void add_gpu_facts(const std::vector<GpuUse>& devices, Trial& trial);

// A device with less activity than this is idle.
inline constexpr double idle_percent = 2;

}  // namespace lockstep
