// Computes how a batch used its devices and slots, from its ledger, gpu.csv and its jobs' own
// events.
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

// UUIDs of an attempt's devices; never null. Attempts share these lists, because a batch may have a
// million attempts on a few devices.
using DeviceNames = std::shared_ptr<const std::vector<std::string>>;

// Parses the lists of devices in the ledger (JSON). Equal lists give the same object.
class DeviceLists {
 public:
  DeviceNames of(const std::string& json);

 private:
  std::map<std::string, DeviceNames> known_;
};

// One attempt that ran. Times are in seconds since the start of the batch's first attempt.
struct AttemptSpan {
  std::string job;
  std::string outcome;
  // "share 4" if Slurm runs the batch in shares (batch_shares.h), each with its own slots; else
  // empty
  std::string share{};
  int slot = 0;
  DeviceNames devices{};
  double begin = 0, end = 0;
};

// How one GPU was used.
struct DeviceUse {
  std::string uuid;
  std::optional<int> index;  // its index in nvidia-smi; nothing if the batch has no gpu.csv
  std::string host{};        // the host, for a batch that may run on several; else empty
  std::int64_t attempts = 0;
  double busy_s = 0;         // time in which at least one job ran on the device
  double job_s = 0;          // sum of the times of its jobs; larger than busy_s if jobs overlapped
  double idle_wanted_s = 0;  // time without a job before the last job with a GPU started
  double idle_at_end_s = 0;  // time without a job after that start
  // time without a job, by the scheduler's reason for not using the device
  std::map<std::string, double> idle_s;
  // The next four: the number of samples in gpu.csv while a job ran on the device, and their means.
  std::int64_t samples = 0;
  std::optional<double> busy_percent, sm_percent, power_w;
  // mean activity while no job of the batch ran on the device
  std::optional<double> outside_percent;
};

struct BatchAnalysis {
  std::vector<AttemptSpan> spans;  // sorted by begin
  std::vector<DeviceUse> devices;
  double begin = 0;       // start of the first attempt, unix seconds
  double wall_s = 0;      // time from the start of the first attempt to the end of the last one
  double busy_slots = 0;  // mean number of concurrent jobs while the batch ran
  RunningTime running;    // the time without stops and pauses
  // seconds of each phase that jobs reported, summed over the jobs
  std::map<std::string, double> phases_s;
  std::int64_t with_phases = 0;  // number of jobs that reported phases
  double with_phases_s = 0;  // sum of the times of these jobs; the phases may sum to less or more
  double gpu_hours = 0;
  std::optional<double> energy_kwh;  // energy of the GPUs while jobs ran on them
};

// A phase that jobs reported, with its seconds and its percentage of the time of these jobs.
// phase_shares() appends an entry for the remaining time, if it is not 0. The remaining time is
// start-up, and parts of jobs that are in no phase.
struct PhaseShare {
  std::string name;  // "phase train", "in no phase"
  double seconds = 0, percent = 0;
};
std::vector<PhaseShare> phase_shares(const BatchAnalysis& analysis);

// Analyses a batch. Throws Error if a ledger cannot be read. The shares of a batch are merged by
// the times that their hosts recorded. Idle time of a device is counted only while the share that
// uses the device runs.
BatchAnalysis analyze(const BatchFolder& batch);
std::string analysis_text(const BatchAnalysis& analysis);
// Returns a line per device with the number of concurrent jobs over time. Jobs without a device
// have a line per slot.
std::string timeline_text(const BatchAnalysis& analysis, int width);
// Returns a row per batch: attempts, time, jobs per minute, concurrent jobs, and how devices were
// used.
std::string comparison_text(
    // pairs of name and analysis
    const std::vector<std::pair<std::string, BatchAnalysis>>& analyses);
// Returns a chart with a row per device and slot. Jobs without a device have a row per slot.
std::string analysis_svg(const BatchAnalysis& analysis, const std::string& title);
nlohmann::json analysis_json(const BatchAnalysis& analysis);

}  // namespace lockstep
