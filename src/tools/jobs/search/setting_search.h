// Finds the setting in which the jobs of a batch complete fastest: how many run at once, with how
// many cores each, and with which values of those parameters that are settings. Arithmetic only.
//
// First, each combination of values is tried with the batch's own numbers. Then neighbours of the
// best setting are tried as long as a better one is found: twice as many jobs at once, half as
// many, twice the cores. The next trial depends only on the trials so far, so an interrupted search
// continues from them.
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
    std::string name;  // "num_leaves=31"; "" if no parameter is a setting
    double cpus = 1;   // cores of each of its jobs, as the batch specifies
  };
  std::vector<Combination> combinations{Combination{}};  // at least one
  int cores = 1;
  int devices = 0;     // devices on which jobs run
  int per_device = 1;  // the most jobs on each, as the batch specifies
};

// Resources for the next trial.
struct SearchRoom {
  std::vector<std::int64_t> jobs;  // waiting jobs, by combination
  int per_device = 1;              // jobs that fit into a device's memory
  std::int64_t memory_bytes = 0;   // host memory for jobs; 0: unknown
};

class SettingSearch {
 public:
  static constexpr std::size_t most_trials = 8;  // besides the first of each combination

  // targets: only those that apply to a part of a batch (Expectation::is_of_parts) are used.
  SettingSearch(SearchSpace space, std::vector<Expectation> targets);

  JobSetting first(int combination) const;  // as the batch specifies
  // Nothing if there is nothing left to try, or if resources do not suffice.
  std::optional<JobSetting> next(const SearchRoom& room) const;
  // The needs of a trial of this setting.
  TrialTimer::Needs needs(const JobSetting& setting) const;
  void add(SettingTrial trial) { trials_.push_back(std::move(trial)); }
  const std::vector<SettingTrial>& trials() const { return trials_; }
  // The fastest setting that meets the targets; if none does, the setting nearest to them. Among
  // settings that are equally fast within the noise, the first tried. Null if none completed a job.
  const SettingTrial* choice() const;

  int jobs_at_once(const JobSetting& setting) const;  // over the whole batch
  const SearchSpace& space() const { return space_; }

  // Texts for people, one line each.
  std::string text(const JobSetting& setting) const;       // "4 jobs per device, 1 core each"
  std::string text(const SettingTrial& trial) const;       // the setting and its result
  std::string choice_text() const;                         // the choice and the reason
  std::string untried_text(const SearchRoom& room) const;  // settings that might be better; "" if
                                                           // there are none

  std::string json() const;  // of the trials, for restore()
  // Restores trials of an earlier start. Returns false and restores nothing if they cannot be read,
  // or were made with other combinations, cores or devices.
  bool restore(const std::string& json);

 private:
  const SettingTrial* best() const;  // null if nothing was tried
  std::vector<JobSetting> beside(const JobSetting& setting) const;
  bool is_tried(const JobSetting& setting) const;
  std::vector<JobSetting> untried() const;  // settings that might be better, in the order of trial
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
