// The result of running some of a batch's jobs in one setting. Arithmetic only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/monitor/gpu/gpu_log.h"

namespace lockstep {

struct JobSetting {
  int combination = 0;  // index among the combinations of those parameters that are settings
  int at_once = 1;      // jobs on each device; without devices, jobs of the batch
  double cpus = 1;      // cores of each job
  bool operator==(const JobSetting&) const = default;
};

// Measurements over the time in which only jobs in this setting ran.
struct SettingTrial {
  JobSetting setting;
  double seconds = 0;
  std::int64_t done = 0, failed = 0;
  bool out_of_memory = false;       // a job ran out of device or host memory
  double together = 0;              // mean number of running jobs
  double noise = 0;                 // standard error of per_minute(), relative to it
  std::int64_t job_bytes = 0;       // the most host memory of one job; 0: unknown
  std::vector<GpuActivity> gpus{};  // by device; empty if there is none, or it was not measured

  double per_minute() const;  // jobs completed
};

// Whether the first completes more jobs per minute, by more than the noise of both and by more than
// 3 %.
bool is_clearly_faster(const SettingTrial& one, const SettingTrial& other);

// Measures a trial. All times are seconds of one clock.
class TrialTimer {
 public:
  struct Needs {
    std::int64_t jobs = 1;  // jobs to complete
    // The number of ended jobs is a multiple of this, as jobs of equal length end together.
    std::int64_t at_once = 1;
    // Jobs that must end before counting starts. They load data, which later jobs find loaded.
    std::int64_t to_load = 0;
    double seconds = 0;  // least duration
  };
  TrialTimer(JobSetting setting, Needs needs) : setting_(setting), needs_(needs) {}

  // Says that from now on only jobs in this setting run. Further calls change nothing.
  void begin(double now_s);
  bool has_begun() const { return begun_s_.has_value(); }
  bool counts() const { return has_begun() && loaded_ >= needs_.to_load; }

  enum class End { done, failed, out_of_memory, other };
  // Reports the end of a job that began in this setting.
  void ended(End how, double started_s, double ended_s, std::int64_t job_bytes);
  bool is_over() const;
  SettingTrial result() const;  // without GPU activity

 private:
  JobSetting setting_;
  Needs needs_;
  std::optional<double> begun_s_;
  double last_s_ = 0, job_s_ = 0;
  std::int64_t loaded_ = 0, ended_ = 0, failed_ = 0, job_bytes_ = 0;
  bool out_of_memory_ = false;
  std::vector<double> durations_s_;  // of completed jobs
};

}  // namespace lockstep
