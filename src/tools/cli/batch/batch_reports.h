// Carries out --keep-order, --joblog and --halt at the end of each job.
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
void check_reports(const Parsed& parsed);  // throws Error if the value of --halt is invalid

class BatchReports {
 public:
  // Covers the jobs of the ledger that have not ended. Throws Error if the value of --halt is
  // invalid, or if the job log cannot be written.
  BatchReports(const Parsed& parsed, BatchFolder batch, Ledger& ledger);

  // Call it at the end of each attempt. It acts only if the job has ended. jobs: the number of jobs
  // of the batch.
  void ended(const RunningAttempt& running, const Settled& settled, std::int64_t jobs);
  // Applies the rule of --halt. Call it after each call of ended().
  void halt(Scheduler& scheduler);
  // Call it after each call of Scheduler::turn(). Output of --keep-order then no longer waits for
  // jobs that will not run.
  void release(const Scheduler& scheduler);
  void will_not_run(std::int64_t job);
  void finish();
  // Whether the jobs' output goes to standard output, so that the summary must go elsewhere.
  bool owns_output() const { return output_.has_value(); }
  // Whether --halt has ended the batch after the requested number of successes.
  bool halted_for_success() const { return halted_ && rule_.for_success(); }

 private:
  BatchFolder batch_;
  HaltRule rule_;
  std::optional<Joblog> joblog_;
  std::optional<OrderedOutput> output_;
  bool halted_ = false, released_ = false;
};

}  // namespace lockstep::cli
