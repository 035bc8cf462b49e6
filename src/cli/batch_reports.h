// What else is done with the end of each job: --keep-order, --joblog, --halt.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "jobs/halt_rule.h"
#include "jobs/joblog.h"
#include "jobs/ordered_output.h"
#include "jobs/scheduler.h"

namespace lockstep::cli {

std::vector<Flag> report_flags();
void check_reports(const Parsed& parsed);  // throws Error: a --halt that cannot be read

class BatchReports {
 public:
  // Throws Error: a rule that cannot be read, a job log that cannot be written. The jobs are those
  // of the ledger that are not over.
  BatchReports(const Parsed& parsed, BatchFolder batch, Ledger& ledger);

  // Of each attempt; looks only at those after which the job is over.
  void ended(const RunningAttempt& running, const Settled& settled, std::int64_t jobs);
  // After each end: what the rule of --halt asks for.
  void halt(Scheduler& scheduler);
  // After each turn: output that waits for jobs which will not run is not held back.
  void release(const Scheduler& scheduler);
  void will_not_run(std::int64_t job);
  void finish();
  // Standard output has what jobs printed: the summary goes elsewhere.
  bool owns_output() const { return output_.has_value(); }
  // The batch was to end at so many successes, and has.
  bool halted_for_success() const { return halted_ && rule_.for_success(); }

 private:
  BatchFolder batch_;
  HaltRule rule_;
  std::optional<Joblog> joblog_;
  std::optional<OrderedOutput> output_;
  bool halted_ = false, released_ = false;
};

}  // namespace lockstep::cli
