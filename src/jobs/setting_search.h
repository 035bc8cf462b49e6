// In which setting the jobs of a batch are to run: how many at once, with how many cores each, and
// with which values of those parameters that are settings. Arithmetic only.
//
// First each combination of values is tried as the batch has it. Then what lies beside the best
// setting, as long as something better is found: twice as many jobs at once, half as many, twice
// the cores. What is tried next follows from the trials alone, so that a search that was
// interrupted goes on from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobs/expectation.h"
#include "jobs/setting_trial.h"

namespace lockstep {

struct SearchSpace {
  struct Combination {
    std::string name;  // "num_leaves=31"; "" where no parameter is a setting
    double cpus = 1;   // cores of each of its jobs, as the batch has it
  };
  std::vector<Combination> combinations{Combination{}};  // at least one
  int cores = 1;
  int devices = 0;     // on which jobs run
  int per_device = 1;  // jobs on each at most, as the batch has it
};

// What there is for the next trial.
struct SearchRoom {
  std::vector<std::int64_t> jobs;  // that wait, by combination
  int per_device = 1;              // jobs that the memory of a device holds
  std::int64_t memory_bytes = 0;   // of the host, for jobs; 0: unknown
};

class SettingSearch {
 public:
  static constexpr std::size_t most_trials = 8;  // beyond the first of each combination

  // targets: those that a part of a batch can meet (Expectation::is_of_parts) count.
  SettingSearch(SearchSpace space, std::vector<Expectation> targets);

  JobSetting first(int combination) const;  // as the batch has it
  // Nothing: nothing is left to try, or there is no room for it.
  std::optional<JobSetting> next(const SearchRoom& room) const;
  // Of a trial.
  TrialTimer::Needs needs(const JobSetting& setting) const;
  void add(SettingTrial trial) { trials_.push_back(std::move(trial)); }
  const std::vector<SettingTrial>& trials() const { return trials_; }
  // The fastest that meets the targets, or else the one that comes nearest. Of those that are
  // equally fast within the noise the first that was tried. Null: none did any job.
  const SettingTrial* choice() const;

  int jobs_at_once(const JobSetting& setting) const;  // of the whole batch
  const SearchSpace& space() const { return space_; }

  // For people, a line each.
  std::string text(const JobSetting& setting) const;       // "4 jobs per device, 1 core each"
  std::string text(const SettingTrial& trial) const;       // what was tried and what came of it
  std::string choice_text() const;                         // what is chosen, and why
  std::string untried_text(const SearchRoom& room) const;  // what might be better; "": nothing

  std::string json() const;  // of the trials
  // Trials of an earlier start. False, and nothing is restored: they cannot be read, or were made
  // with other combinations, cores or devices.
  bool restore(const std::string& json);

 private:
  const SettingTrial* best() const;  // null: nothing was tried
  std::vector<JobSetting> beside(const JobSetting& setting) const;
  bool is_tried(const JobSetting& setting) const;
  std::vector<JobSetting> untried() const;  // that might be better, first to be tried first
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
