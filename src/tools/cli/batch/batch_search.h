// `lockstep batch … --search`: tries settings of the scheduler, such as the number of jobs at once.
// The first jobs of the batch are the trials, and the others run with the best setting.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/cli/arguments.h"
#include "tools/jobs/job_file/job_source.h"
#include "tools/jobs/ledger/ledger.h"
#include "tools/jobs/schedule/scheduler.h"
#include "tools/jobs/search/expectation.h"
#include "tools/jobs/search/setting_search.h"
#include "tools/monitor/gpu/gpu_log.h"

namespace lockstep::cli {

// The reason that is recorded for a job that was cancelled because --choose kept other parameters.
inline constexpr const char* left_out_by_search = "--search chose other parameters";

// Returns the flags --search and --choose.
const std::vector<Flag>& search_flags();
// Call both functions before anything is written. check_search_flags throws Error if the flags
// contradict each other. check_search also throws Error if there is nothing to search for with
// these jobs.
void check_search_flags(const Parsed& parsed);
void check_search(const Parsed& parsed, const JobSource& jobs);

// The plan of a search: its jobs, its search space and its targets.
struct SearchPlan {
  std::string kind;  // the kind of job, which is the same for all jobs of a search
  // parameters of --choose: jobs with the best combination of them run, others are cancelled
  std::vector<std::string> choose;
  SearchSpace space;
  // job ids for each combination of the parameters in `choose`
  std::vector<std::set<std::int64_t>> jobs;
  std::vector<Expectation> targets;
  bool is_asked = false;  // whether --search is given now, not only in an earlier start
  // whether a job can find data in memory that an earlier job loaded
  bool loads = false;
  std::int64_t memory_bytes = 0;  // host memory for the jobs; 0 if unknown
};
// Returns the plan for --search, or for a search that an earlier start of the batch began. Returns
// nothing if there is no such search or no waiting job, or if --slots sets the number of concurrent
// jobs. Also returns nothing, and prints why, if a new search has too few waiting jobs. The same
// applies if --search is not given, and jobs of other kinds were added. Throws Error as
// check_search does.
std::optional<SearchPlan> plan_search(const Parsed& parsed, Ledger& ledger,
                                      const BatchResources& resources,
                                      std::vector<Expectation> targets);

class BatchSearch {
 public:
  using Say = std::function<void(const std::string&)>;
  // Begins a search, or resumes the search in the ledger. log: the log of GPU activity, or null if
  // there are no GPUs. All arguments that are references or pointers must outlive this object.
  BatchSearch(SearchPlan plan, Scheduler& scheduler, Ledger& ledger, const GpuLog* log, Say say);

  void ended(const RunningAttempt& running, const Settled& settled);
  void look();    // call once per call of Scheduler::turn()
  void finish();  // call after the scheduler has finished
  // The sums of GPU activity at the time when the setting was chosen. Returns nothing if no setting
  // was chosen in this start.
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
  JobSetting setting_;                       // the setting being tried, or the chosen one
  std::vector<GpuActivitySum> gpus_before_;  // sums at the beginning of the present trial
  std::set<int> used_up_;  // indexes of combinations that have no more jobs to begin
  bool over_ = false, chosen_ = false, paused_ = false;
  std::optional<std::vector<GpuActivitySum>> chosen_at_;
};

}  // namespace lockstep::cli
