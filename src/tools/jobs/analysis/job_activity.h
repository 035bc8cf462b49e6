// Computes how busy cores and devices were while some jobs of a batch ran, from its ledger and
// gpu.csv.
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

// The number of cores of the machine on which the batch was last started; 0 if unknown.
std::int64_t cores_of_machine(Ledger& ledger);

struct JobActivity {
  bool on_devices = false;  // whether some of the jobs had a GPU
  // Processor time of the jobs, as a percentage of the core time that they requested. Concurrent
  // jobs may request more cores than the machine has. Then only a job's part of the machine's cores
  // is counted. Nothing if no job was measured.
  std::optional<double> cpu_percent;
  // Means over the samples that were taken of devices while one of the jobs ran on them. Nothing
  // without samples, because the jobs were too short.
  std::optional<double> gpu_percent, sm_percent;
};

// Computes which part of a core was available for each requested core, over time. The part is below
// one while concurrent jobs request more cores than the machine has.
class CoreShares {
 public:
  // cores: the number of cores; if the number is 0 (unknown), each attempt gets all the cores that
  // it requests.
  explicit CoreShares(double cores) : cores_(cores) {}
  // Adds an attempt. All attempts must be added before the first call of seconds().
  void add(double begin, double end, double cpus);
  // Returns the seconds that were available to one requested core from `begin` to `end`.
  double seconds(double begin, double end);

 private:
  void sum_up();
  double until(double time) const;

  double cores_;
  // pairs of time and the change in requested cores
  std::vector<std::pair<double, double>> changes_;
  // at each change: its time, the available seconds until then, and the part of a core after it
  std::vector<double> times_, sums_, rates_;
};

class BatchActivity {
 public:
  // Reads the ledger, and the samples in gpu.csv. Throws Error if the ledger cannot be read.
  // Without samples, only the processor time is known.
  explicit BatchActivity(const BatchFolder& batch);

  // Returns the activity over all attempts of these jobs that ran and ended. jobs: their names.
  JobActivity of(const std::set<std::string>& jobs) const;

 private:
  struct Attempt {
    DeviceNames devices;
    double begin = 0, end = 0, cpu_s = 0;
    double cpus = 1, core_s = 0;  // requested cores, and their available seconds by CoreShares
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
