// lockstep batch … --search: tries settings on the first jobs of a batch, and goes on with the
// best.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "jobs/expectation.h"
#include "jobs/job_source.h"
#include "jobs/ledger.h"
#include "jobs/scheduler.h"
#include "jobs/setting_search.h"
#include "monitor/gpu_log.h"

namespace lockstep::cli {

// Why a job was cancelled that had parameters other than those that --choose kept.
inline constexpr const char* left_out_by_search = "--search chose other parameters";

// --search and --choose.
const std::vector<Flag>& search_flags();
// Before anything is written. Throw Error where the flags contradict each other, and where there is
// nothing to search for among such jobs.
void check_search_flags(const Parsed& parsed);
void check_search(const Parsed& parsed, const JobSource& jobs);

// What is to be searched for in a batch.
struct SearchPlan {
  std::string kind;                 // of its jobs
  std::vector<std::string> choose;  // parameters of which one combination is kept
  SearchSpace space;
  std::vector<std::set<std::int64_t>> jobs;  // by combination
  std::vector<Expectation> targets;
  bool is_asked = false;          // by --search of this start
  bool loads = false;             // jobs may find loaded what an earlier one has loaded
  std::int64_t memory_bytes = 0;  // of the host, for jobs; 0: unknown
};
// Of --search, or of a search that the batch's last start began. Nothing: there is none, or --slots
// says how many jobs run at once. Throws Error, as check_search.
std::optional<SearchPlan> plan_search(const Parsed& parsed, Ledger& ledger,
                                      const BatchResources& resources,
                                      std::vector<Expectation> targets);

class BatchSearch {
 public:
  using Say = std::function<void(const std::string&)>;
  // log: of the GPUs; null: there are none. Begins, or goes on with what the ledger has. All must
  // outlive it.
  BatchSearch(SearchPlan plan, Scheduler& scheduler, Ledger& ledger, const GpuLog* log, Say say);

  void ended(const RunningAttempt& running, const Settled& settled);
  void look();    // once a turn of the scheduler
  void finish();  // once the scheduler has nothing more to do
  // Activity of the GPUs until the setting was chosen in this start; nothing: it was not.
  const std::optional<std::vector<GpuActivitySum>>& chosen_at() const { return chosen_at_; }

 private:
  bool restore();
  void keep();
  void note(const std::string& text);
  SearchRoom room() const;
  void begin_next();
  void begin(const JobSetting& setting);
  void begin_counting(double now_s);
  void take_result();
  void choose();
  void go_on_with(const JobSetting& setting);
  void give_up(const std::string& why);
  void lower(const RunningAttempt& running, const AttemptEnd& end);

  SearchPlan plan_;
  Scheduler& scheduler_;
  Ledger& ledger_;
  const GpuLog* log_;
  Say say_;
  SettingSearch search_;
  std::optional<TrialTimer> timer_;
  JobSetting setting_;                       // that is tried, or was chosen
  std::vector<GpuActivitySum> gpus_before_;  // this trial
  std::set<int> used_up_;                    // combinations of which no job can begin
  bool over_ = false, chosen_ = false, paused_ = false;
  std::optional<std::vector<GpuActivitySum>> chosen_at_;
};

}  // namespace lockstep::cli
