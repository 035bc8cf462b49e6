// How a batch used its devices and slots, from its ledger, gpu.csv and its jobs' own events.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/jobs/analysis/running_time.h"
#include "tools/jobs/files/batch_folder.h"

namespace lockstep {

// UUIDs; never null. Shared between attempts, since a batch may have a million of them on a few
// devices.
using DeviceNames = std::shared_ptr<const std::vector<std::string>>;

// Parses the ledger's lists (JSON); equal lists become one object.
class DeviceLists {
 public:
  DeviceNames of(const std::string& json);

 private:
  std::map<std::string, DeviceNames> known_;
};

// One attempt that ran, in seconds since the first start of the batch.
struct AttemptSpan {
  std::string job;
  std::string outcome;
  std::string share{};  // "share 4" for a batch whose tasks have slots of their own; else ""
  int slot = 0;
  DeviceNames devices{};
  double begin = 0, end = 0;
};

// The use of one GPU, over the time in which jobs ran on it.
struct DeviceUse {
  std::string uuid;
  std::optional<int> index;  // the index in nvidia-smi; nothing if there is no gpu.csv
  std::string host{};        // for a batch that may run on several hosts; else ""
  std::int64_t attempts = 0;
  double busy_s = 0;         // time with at least one job on it
  double job_s = 0;          // summed over its jobs: more than busy_s if they overlapped
  double idle_wanted_s = 0;  // time without a job although GPU jobs started later
  double idle_at_end_s = 0;  // time without a job when no more came
  std::map<std::string, double> idle_s;  // by the scheduler's reason
  // Means of the samples taken while a job ran on it.
  std::int64_t samples = 0;
  std::optional<double> busy_percent, sm_percent, power_w;
  std::optional<double> outside_percent;  // busy_percent while no job of the batch ran on it
};

struct BatchAnalysis {
  std::vector<AttemptSpan> spans;  // by begin
  std::vector<DeviceUse> devices;
  double begin = 0;                        // the first start, unix seconds
  double wall_s = 0;                       // from the first start to the last end
  double busy_slots = 0;                   // mean number of jobs at once while it ran
  RunningTime running;                     // without the time in which it was stopped or paused
  std::map<std::string, double> phases_s;  // reported by jobs, summed over them
  std::int64_t with_phases = 0;            // jobs that reported phases
  double with_phases_s = 0;                // the time of those jobs: phases may sum to less, or
                                           // more
  double gpu_hours = 0;
  std::optional<double> energy_kwh;  // of the GPUs, while jobs ran on them
};

// Each phase with its seconds and its percentage of the time of the jobs that reported any. The
// last entry is the remaining time of these jobs: starting, and unreported parts.
struct PhaseShare {
  std::string name;  // "phase train", "in no phase"
  double seconds = 0, percent = 0;
};
std::vector<PhaseShare> phase_shares(const BatchAnalysis& analysis);

// Throws Error if a ledger cannot be read. Shares of a batch are merged by their clocks. A device
// counts as idle only while the share that used it ran.
BatchAnalysis analyze(const BatchFolder& batch);
std::string analysis_text(const BatchAnalysis& analysis);
// A line per device, or per slot without a device, with the number of concurrent jobs over time.
std::string timeline_text(const BatchAnalysis& analysis, int width);
// A row per batch: attempts, time, jobs per minute, concurrent jobs, use of each device.
std::string comparison_text(
    const std::vector<std::pair<std::string, BatchAnalysis>>& analyses);  // name, analysis
// A row per device, or per slot without a device.
std::string analysis_svg(const BatchAnalysis& analysis, const std::string& title);
nlohmann::json analysis_json(const BatchAnalysis& analysis);

}  // namespace lockstep
