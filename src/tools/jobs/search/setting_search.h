// Finds the setting in which the jobs of a batch complete fastest. A setting is the number of
// concurrent jobs, the cores of each job, and values of the parameters that --choose names. The
// search is pure arithmetic.
//
// First, each combination of these values is tried with the batch's own number of concurrent jobs
// and cores. Then neighbours of the best setting are tried, as long as a better one is found.
// Neighbours have twice as many concurrent jobs, half as many, or twice the cores. The next trial
// depends only on the trials so far. So an interrupted search can continue from these trials.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/jobs/search/expectation.h"
#include "tools/jobs/search/setting_trial.h"

namespace lockstep {

struct SearchSpace {
  struct Combination {
    std::string name;  // such as "num_leaves=31"; empty without --choose
    double cpus = 1;   // cores of each job, as the batch specifies
  };
  std::vector<Combination> combinations{Combination{}};  // at least one combination
  int cores = 1;
  int devices = 0;     // number of devices on which jobs run
  int per_device = 1;  // largest number of jobs on each device, as the batch specifies
};

// The jobs and the memory that are available for the next trial.
struct SearchRoom {
  std::vector<std::int64_t> jobs;  // number of waiting jobs for each combination
  int per_device = 1;              // number of jobs that fit into a device's memory
  std::int64_t memory_bytes = 0;   // host memory for jobs; 0 if unknown
};

class SettingSearch {
 public:
  // the largest number of trials in addition to the first trial of each combination
  static constexpr std::size_t most_trials = 8;

  // targets: only expectations that apply to a part of a batch are used (Expectation::is_of_parts).
  SettingSearch(SearchSpace space, std::vector<Expectation> targets);

  JobSetting first(int combination) const;  // the setting that the batch specifies
  // Returns the next setting to try. Returns nothing if no setting is left to try. Settings for
  // which jobs or memory do not suffice are left out. So are settings with more concurrent jobs, if
  // the best trial did not keep its own number of jobs running.
  std::optional<JobSetting> next(const SearchRoom& room) const;
  // Returns the requirements of a trial of this setting.
  TrialTimer::Needs needs(const JobSetting& setting) const;
  void add(SettingTrial trial) { trials_.push_back(std::move(trial)); }
  const std::vector<SettingTrial>& trials() const { return trials_; }
  // Returns the trial of the fastest setting that meets the targets. If no setting meets them,
  // returns the trial that comes nearest. Among settings that are equally fast within the noise,
  // the setting that was tried first is chosen. Null if no setting completed a job without running
  // out of memory.
  const SettingTrial* choice() const;

  // number of concurrent jobs of the whole batch
  int jobs_at_once(const JobSetting& setting) const;
  const SearchSpace& space() const { return space_; }

  // Texts for people, one line each.
  std::string text(const JobSetting& setting) const;  // "4 jobs per device, 1 core each"
  std::string text(const SettingTrial& trial) const;  // the setting and its result
  std::string choice_text() const;                    // the choice and the reason
  // settings that might be better but cannot be tried, and the reasons; "" if there are no such
  // settings
  std::string untried_text(const SearchRoom& room) const;

  std::string json() const;  // the trials, for restore()
  // Restores trials of an earlier run of the batch from json(). Returns false and restores nothing
  // if the text cannot be read, or if the trials were made with other combinations, cores or
  // devices.
  bool restore(const std::string& json);

 private:
  const SettingTrial* best() const;  // null if nothing was tried
  std::vector<JobSetting> beside(const JobSetting& setting) const;
  bool is_tried(const JobSetting& setting) const;
  // settings that might be better, in the order in which they would be tried
  std::vector<JobSetting> untried() const;
  std::string why_not(const JobSetting& setting, const SearchRoom& room) const;
  bool has_jobs(const JobSetting& setting, const SearchRoom& room) const;
  bool has_memory(const JobSetting& setting, const SearchRoom& room) const;
  double shortfall(const SettingTrial& trial) const;
  bool is_better(const SettingTrial& one, const SettingTrial& other) const;

  SearchSpace space_;
  std::vector<Expectation> targets_;
  std::vector<SettingTrial> trials_;
};

}  // namespace lockstep
