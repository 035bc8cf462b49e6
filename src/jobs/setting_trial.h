// What one way to run the jobs of a batch comes to, measured on some of them. Arithmetic only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "monitor/gpu_log.h"

namespace lockstep {

struct JobSetting {
  int combination = 0;  // place among the combinations of those parameters that are settings
  int at_once = 1;      // jobs on each device; without devices, jobs of the batch
  double cpus = 1;      // cores of each job
  bool operator==(const JobSetting&) const = default;
};

// Of the time in which only jobs that began with the setting ran.
struct SettingTrial {
  JobSetting setting;
  double seconds = 0;
  std::int64_t done = 0, failed = 0;
  bool out_of_memory = false;       // a job, of its device's or of the host's
  double together = 0;              // mean number of jobs that ran
  double noise = 0;                 // standard error of per_minute(), as a part of it
  std::int64_t job_bytes = 0;       // most of the host's memory that one job had; 0: unknown
  std::vector<GpuActivity> gpus{};  // by device; empty: there is none, or it was not measured

  double per_minute() const;  // jobs done
};

// Whether the first does more jobs per minute, by more than the noise of both, and by 3 %.
bool is_clearly_faster(const SettingTrial& one, const SettingTrial& other);

// Measures a trial. Times are seconds of one clock.
class TrialTimer {
 public:
  struct Needs {
    std::int64_t jobs = 1;  // that have to be done
    // It ends after a multiple of these, as jobs of equal length end together.
    std::int64_t at_once = 1;
    // Jobs that end before it counts: later ones find loaded what these load.
    std::int64_t to_load = 0;
    double seconds = 0;  // that it takes at least
  };
  TrialTimer(JobSetting setting, Needs needs) : setting_(setting), needs_(needs) {}

  // From here on only jobs of this setting run. Again: no change.
  void begin(double now_s);
  bool has_begun() const { return begun_s_.has_value(); }
  bool counts() const { return has_begun() && loaded_ >= needs_.to_load; }

  enum class End { done, failed, out_of_memory, other };
  // Of a job that began with this setting.
  void ended(End how, double started_s, double ended_s, std::int64_t job_bytes);
  bool is_over() const;
  SettingTrial result() const;  // without activity of the GPUs

 private:
  JobSetting setting_;
  Needs needs_;
  std::optional<double> begun_s_;
  double last_s_ = 0, job_s_ = 0;
  std::int64_t loaded_ = 0, ended_ = 0, failed_ = 0, job_bytes_ = 0;
  bool out_of_memory_ = false;
  std::vector<double> durations_s_;  // of those that are done
};

}  // namespace lockstep
