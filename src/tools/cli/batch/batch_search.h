// lockstep batch … --search: tries settings on the first jobs of a batch, and continues with the
// best one.
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

// The reason for cancelling a job whose parameters differ from those that --choose kept.
inline constexpr const char* left_out_by_search = "--search chose other parameters";

// The flags --search and --choose.
const std::vector<Flag>& search_flags();
// Call both before anything is written. They throw Error if the flags contradict each other, or if
// there is nothing to search for among these jobs.
void check_search_flags(const Parsed& parsed);
void check_search(const Parsed& parsed, const JobSource& jobs);

// The search of a batch.
struct SearchPlan {
  std::string kind;                 // of its jobs
  std::vector<std::string> choose;  // parameters for which one combination is kept
  SearchSpace space;
  std::vector<std::set<std::int64_t>> jobs;  // by combination
  std::vector<Expectation> targets;
  bool is_asked = false;          // requested by --search of this start
  bool loads = false;             // jobs may find data loaded by an earlier one
  std::int64_t memory_bytes = 0;  // host memory for jobs; 0: unknown
};
// Returns the plan for --search, or for a search that the batch's last start began. Nothing if
// there is no search, or if --slots sets the number of concurrent jobs. Throws Error as
// check_search does.
std::optional<SearchPlan> plan_search(const Parsed& parsed, Ledger& ledger,
                                      const BatchResources& resources,
                                      std::vector<Expectation> targets);

class BatchSearch {
 public:
  using Say = std::function<void(const std::string&)>;
  // Begins a search, or resumes one from the ledger. log: of the GPUs; null if there are none. All
  // arguments must outlive it.
  BatchSearch(SearchPlan plan, Scheduler& scheduler, Ledger& ledger, const GpuLog* log, Say say);

  void ended(const RunningAttempt& running, const Settled& settled);
  void look();    // call it once per turn of the scheduler
  void finish();  // call it once the scheduler has finished
  // The sums of GPU activity when the setting was chosen in this start; nothing if it was not.
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
  std::vector<GpuActivitySum> gpus_before_;  // at the beginning of this trial
  std::set<int> used_up_;                    // combinations without a job that can begin
  bool over_ = false, chosen_ = false, paused_ = false;
  std::optional<std::vector<GpuActivitySum>> chosen_at_;
};

}  // namespace lockstep::cli
