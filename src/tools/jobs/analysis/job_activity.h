// How busy cores and devices were during some jobs of a batch, from its ledger and gpu.csv.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/jobs/analysis/analysis.h"
#include "tools/jobs/files/batch_folder.h"

namespace lockstep {

class Ledger;

// The number of cores of the machine of the batch's latest start; 0: unknown.
std::int64_t cores_of_machine(Ledger& ledger);

struct JobActivity {
  bool on_devices = false;  // some of the jobs had a GPU
  // Processor time of the jobs, as a percentage of their time on the requested cores. If concurrent
  // jobs requested more cores than there are, only their part of the existing cores counts. Nothing
  // if no job was measured.
  std::optional<double> cpu_percent;
  // Mean of a device's samples taken while a job ran there. Nothing if there are none, because the
  // jobs were too short.
  std::optional<double> gpu_percent, sm_percent;
};

// For each requested core, the part of a core that was available, over time. It is below one while
// concurrent jobs request more cores than there are.
class CoreShares {
 public:
  // cores: 0 if unknown; each request is then taken as one core.
  explicit CoreShares(double cores) : cores_(cores) {}
  // Adds an attempt. Add all attempts before calling `seconds`.
  void add(double begin, double end, double cpus);
  // Seconds available from begin to end to one requested core.
  double seconds(double begin, double end);

 private:
  void sum_up();
  double until(double time) const;

  double cores_;
  std::vector<std::pair<double, double>> changes_;  // time, and the change in requested cores
  std::vector<double> times_, sums_, rates_;        // at each change: the seconds until it, and the
                                                    // rate after it
};

class BatchActivity {
 public:
  // Reads everything. Throws Error if the ledger cannot be read. Without samples only processor
  // time is known.
  explicit BatchActivity(const BatchFolder& batch);

  // Over all attempts of these jobs that ran and ended.
  JobActivity of(const std::set<std::string>& jobs) const;

 private:
  struct Attempt {
    DeviceNames devices;
    double begin = 0, end = 0, cpu_s = 0;
    double cpus = 1, core_s = 0;  // requested cores, and their seconds by CoreShares
  };
  struct Sample {
    double at = 0;  // unix seconds, like begin and end
    std::optional<double> busy, sm;
  };
  void read_attempts(const BatchFolder& batch);
  void read_samples(const BatchFolder& part);

  std::multimap<std::string, Attempt> attempts_;        // by the job's name
  std::map<std::string, std::vector<Sample>> samples_;  // by the device's UUID
};

}  // namespace lockstep
