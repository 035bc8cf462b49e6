// Actions at the end of each job: --keep-order, --joblog, --halt.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/arguments.h"
#include "tools/jobs/files/joblog.h"
#include "tools/jobs/graph/halt_rule.h"
#include "tools/jobs/process/ordered_output.h"
#include "tools/jobs/schedule/scheduler.h"

namespace lockstep::cli {

std::vector<Flag> report_flags();
void check_reports(const Parsed& parsed);  // throws Error for an invalid --halt

class BatchReports {
 public:
  // Uses the jobs of the ledger that are not over. Throws Error for an invalid rule, or a job log
  // that cannot be written.
  BatchReports(const Parsed& parsed, BatchFolder batch, Ledger& ledger);

  // Call it for each attempt; it acts only if the job is over.
  void ended(const RunningAttempt& running, const Settled& settled, std::int64_t jobs);
  // Call it after each end: applies the rule of --halt.
  void halt(Scheduler& scheduler);
  // Call it after each turn: output no longer waits for jobs that will not run.
  void release(const Scheduler& scheduler);
  void will_not_run(std::int64_t job);
  void finish();
  // Whether standard output has the jobs' output, so that the summary must go elsewhere.
  bool owns_output() const { return output_.has_value(); }
  // Whether the batch has ended because --halt ends it at a number of successes.
  bool halted_for_success() const { return halted_ && rule_.for_success(); }

 private:
  BatchFolder batch_;
  HaltRule rule_;
  std::optional<Joblog> joblog_;
  std::optional<OrderedOutput> output_;
  bool halted_ = false, released_ = false;
};

}  // namespace lockstep::cli
