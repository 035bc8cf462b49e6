// How busy cores and devices were while some jobs of a batch ran, from its ledger and gpu.csv.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jobs/analysis.h"
#include "jobs/batch_folder.h"

namespace lockstep {

class Ledger;

// Of the machine that the batch began on last; 0: it is not known.
std::int64_t cores_of_machine(Ledger& ledger);

struct JobActivity {
  bool on_devices = false;  // some of the jobs had a GPU
  // Processor time over the time of the jobs on the cores that they asked for; where all jobs at
  // once asked for more cores than there are, on their part of these. Nothing: none was measured.
  std::optional<double> cpu_percent;
  // Mean of the samples of a device that fell into the time of a job there. Nothing: there is none,
  // because the jobs were too short.
  std::optional<double> gpu_percent, sm_percent;
};

// How much of a core there was for each core that a job asked for, over time: less than one while
// jobs at once asked for more cores than there are.
class CoreShares {
 public:
  // cores: 0 where that is not known, and each is taken to be one.
  explicit CoreShares(double cores) : cores_(cores) {}
  void add(double begin, double end, double cpus);  // an attempt; all of them before `seconds`
  // For one core that was asked for from begin to end.
  double seconds(double begin, double end);

 private:
  void sum_up();
  double until(double time) const;

  double cores_;
  std::vector<std::pair<double, double>> changes_;  // time, and cores that are asked for more then
  std::vector<double> times_, sums_, rates_;        // at each change: seconds until it, and from it
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
    double begin = 0, end = 0, cpu_s = 0;
    double cpus = 1, core_s = 0;  // asked for, and their seconds as CoreShares has them
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
