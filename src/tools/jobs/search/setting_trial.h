// Measures how fast some of a batch's jobs run in one setting. It is pure arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/monitor/gpu/gpu_log.h"

namespace lockstep {

struct JobSetting {
  int combination = 0;  // index into SearchSpace::combinations (setting_search.h)
  int at_once = 1;  // concurrent jobs on each device; without devices, concurrent jobs of the batch
  double cpus = 1;  // cores of each job
  bool operator==(const JobSetting&) const = default;
};

// Measurements over the time in which only jobs in this setting ran.
struct SettingTrial {
  JobSetting setting;
  double seconds = 0;
  std::int64_t done = 0, failed = 0;
  bool out_of_memory = false;  // a job ran out of device or host memory
  double together = 0;         // mean number of running jobs
  double noise = 0;            // standard error of per_minute() as a fraction of it
  std::int64_t job_bytes = 0;  // host memory of the job that used most; 0 if unknown
  // the activity of each device; empty without devices, or if the activity was not measured
  std::vector<GpuActivity> gpus{};

  double per_minute() const;  // number of completed jobs per minute
};

// Whether `one` completes clearly more jobs per minute than `other`. The difference must be above
// two standard errors, and above 3 %.
bool is_clearly_faster(const SettingTrial& one, const SettingTrial& other);

// Measures a trial. All times are in seconds of one clock.
class TrialTimer {
 public:
  struct Needs {
    std::int64_t jobs = 1;  // number of jobs to complete
    // A trial ends only when the number of ended jobs is a multiple of this. Jobs of equal length
    // end together, so a trial that ends with the first of them would miss the others.
    std::int64_t at_once = 1;
    // Number of jobs that must end before the measurement begins. These jobs load data into the
    // host's memory, where later jobs find it.
    std::int64_t to_load = 0;
    double seconds = 0;  // shortest duration of the trial
  };
  TrialTimer(JobSetting setting, Needs needs) : setting_(setting), needs_(needs) {}

  // Reports that from now on only jobs in this setting run. Further calls have no effect.
  void begin(double now_s);
  bool has_begun() const { return begun_s_.has_value(); }
  bool counts() const { return has_begun() && loaded_ >= needs_.to_load; }

  enum class End { done, failed, out_of_memory, other };
  // Reports the end of a job that began in this setting.
  void ended(End how, double started_s, double ended_s, std::int64_t job_bytes);
  bool is_over() const;
  SettingTrial result() const;  // the result without GPU activity

 private:
  JobSetting setting_;
  Needs needs_;
  std::optional<double> begun_s_;
  double last_s_ = 0, job_s_ = 0;
  std::int64_t loaded_ = 0, ended_ = 0, failed_ = 0, job_bytes_ = 0;
  bool out_of_memory_ = false;
  std::vector<double> durations_s_;  // durations of completed jobs
};

}  // namespace lockstep
