// How busy cores and devices were while some jobs of a batch ran, from its ledger and gpu.csv.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jobs/analysis.h"
#include "jobs/batch_folder.h"

namespace lockstep {

struct JobActivity {
  bool on_devices = false;  // some of the jobs had a GPU
  // Processor time over the time of the jobs on the cores that they asked for. Nothing: none was
  // measured.
  std::optional<double> cpu_percent;
  // Mean of the samples of a device that fell into the time of a job there. Nothing: there is none,
  // because the jobs were too short.
  std::optional<double> gpu_percent, sm_percent;
};

class BatchActivity {
 public:
  // Reads all of it. Throws Error where the ledger cannot be read; without samples there is only
  // the processor time.
  explicit BatchActivity(const BatchFolder& batch);

  // Of all attempts of these jobs that ran and ended.
  JobActivity of(const std::set<std::string>& jobs) const;

 private:
  struct Attempt {
    DeviceList devices;
    double begin = 0, end = 0, cpu_s = 0, cpus = 1;
  };
  struct Sample {
    double at = 0;  // unix seconds, as begin and end
    std::optional<double> busy, sm;
  };
  void read_attempts(const BatchFolder& batch);
  void read_samples(const BatchFolder& part);

  std::multimap<std::string, Attempt> attempts_;        // by the job's name
  std::map<std::string, std::vector<Sample>> samples_;  // by the device's UUID
};

}  // namespace lockstep
