// What a batch did with its devices and slots, from its ledger, gpu.csv and its jobs' own events.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobs/batch_folder.h"

namespace lockstep {

// UUIDs; never null. Shared, as a batch may have a million attempts on a few devices.
using DeviceList = std::shared_ptr<const std::vector<std::string>>;

// Gives lists of the ledger (JSON) as such, equal ones as the same.
class DeviceLists {
 public:
  DeviceList of(const std::string& json);

 private:
  std::map<std::string, DeviceList> known_;
};

// One attempt that ran, in seconds since the first start of the batch.
struct AttemptSpan {
  std::string job;
  std::string outcome;
  std::string share{};  // "share 4" of a batch whose tasks have slots of their own; else ""
  int slot = 0;
  DeviceList devices{};
  double begin = 0, end = 0;
};

// Of one GPU, over the time in which jobs ran on it.
struct DeviceUse {
  std::string uuid;
  std::optional<int> index;  // as nvidia-smi counts; nothing: there is no gpu.csv
  std::string host{};        // of a batch that may run on several; else ""
  std::int64_t attempts = 0;
  double busy_s = 0;         // at least one job ran on it
  double job_s = 0;          // of all jobs on it: more than busy_s where they overlapped
  double idle_wanted_s = 0;  // no job on it though GPU jobs started later
  double idle_at_end_s = 0;  // no job on it, and no more of them came
  std::map<std::string, double> idle_s;  // by reason, as the scheduler saw it
  // Means of the samples that were taken while a job ran on it.
  std::int64_t samples = 0;
  std::optional<double> busy_percent, sm_percent, power_w;
  std::optional<double> outside_percent;  // busy_percent while no job of the batch ran on it
};

struct BatchAnalysis {
  std::vector<AttemptSpan> spans;  // by begin
  std::vector<DeviceUse> devices;
  double begin = 0;                        // of the first start, unix seconds
  double wall_s = 0;                       // from the first start to the last end
  double busy_slots = 0;                   // mean number of jobs at once
  std::map<std::string, double> phases_s;  // summed over jobs, as they reported them
  std::int64_t with_phases = 0;            // jobs that did
  double with_phases_s = 0;                // their time: phases may be less of it, or more
  double gpu_hours = 0;
  std::optional<double> energy_kwh;  // of the GPUs, while jobs ran on them
};

// Each phase with its seconds and its percent of the time of the jobs that reported some; last what
// they did beside: starting, and what they do not report.
struct PhaseShare {
  std::string name;  // "phase train", "in no phase"
  double seconds = 0, percent = 0;
};
std::vector<PhaseShare> phase_shares(const BatchAnalysis& analysis);

// Throws Error where a ledger cannot be read. Of a batch with shares: all of them together, by
// their clocks; a device counts as idle only while the share that had it ran.
BatchAnalysis analyze(const BatchFolder& batch);
std::string analysis_text(const BatchAnalysis& analysis);
// A line per device, and per slot without one, with the number of jobs at once over time.
std::string timeline_text(const BatchAnalysis& analysis, int width);
// A row per batch: attempts, time, jobs per minute, at once, share of each device.
std::string comparison_text(
    const std::vector<std::pair<std::string, BatchAnalysis>>& analyses);  // name, analysis
// A row per device, and per slot without one.
std::string analysis_svg(const BatchAnalysis& analysis, const std::string& title);
nlohmann::json analysis_json(const BatchAnalysis& analysis);

}  // namespace lockstep
