#include "tools/cli/batch/batch_reports.h"

#include <unistd.h>

#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/cli/context.h"

namespace lockstep::cli {
namespace {

std::set<std::int64_t> to_end(Ledger& ledger) {
  std::set<std::int64_t> jobs;
  for (const QueuedJob& job : ledger.queue())
    if (job.state == JobState::waiting || job.state == JobState::running) jobs.insert(job.id);
  return jobs;
}

}  // namespace

std::vector<Flag> report_flags() {
  return {
      {"--keep-order", "",
       "copy the output of jobs to standard output too, in their order, each once all jobs before "
       "it have ended"},
      {"--joblog", "FILE", "a line for each job that is over, in GNU parallel's columns", "file"},
      {"--halt", "WHEN",
       "end early: soon, or now (which also terminates running jobs), and fail, success or done: "
       "soon,fail=3, now,fail=10%",
       "word soon,fail=1|now,fail=1|now,success=1|soon,fail=10%"}};
}

void check_reports(const Parsed& parsed) { HaltRule rule(parsed.value("--halt", "never")); }

BatchReports::BatchReports(const Parsed& parsed, BatchFolder batch, Ledger& ledger)
    : batch_(std::move(batch)), rule_(parsed.value("--halt", "never")) {
  if (parsed.has("--joblog")) joblog_.emplace(parsed.value("--joblog"));
  if (parsed.has("--keep-order")) output_.emplace(to_end(ledger), STDOUT_FILENO);
}

void BatchReports::ended(const RunningAttempt& running, const Settled& settled, std::int64_t jobs) {
  if (settled.state == JobState::waiting) return;
  rule_.count(settled.state, jobs);
  if (joblog_) try {
      joblog_->add(batch_, running, settled.end);
    } catch (const Error& error) {
      say(cat("warning: ", error.what(), "; nothing more is written there"));
      joblog_.reset();
    }
  if (!output_) return;
  output_->ended(running.attempt.job, batch_.log(running.job.name, running.attempt.number));
}

void BatchReports::halt(Scheduler& scheduler) {
  const HaltRule::How how = rule_.due();
  if (how == HaltRule::How::never) return;
  halted_ = true;
  say(cat(rule_.why(), ": no more begin",
          how == HaltRule::How::now ? ", and what runs is ended" : ""));
  if (how == HaltRule::How::now)
    scheduler.stop();
  else
    scheduler.drain();
}

void BatchReports::will_not_run(std::int64_t job) {
  if (output_) output_->will_not_run(job);
}

void BatchReports::release(const Scheduler& scheduler) {
  if (!output_ || !scheduler.draining() || std::exchange(released_, true)) return;
  std::set<std::int64_t> running;
  for (const RunningAttempt* const one : scheduler.running()) running.insert(one->attempt.job);
  output_->await_only(running);
}

void BatchReports::finish() {
  if (!output_) return;
  output_->finish();
  if (output_->broken())
    say(cat("standard output was not read to its end: all of it is in ",
            (batch_.path / "logs").string()));
}

}  // namespace lockstep::cli
