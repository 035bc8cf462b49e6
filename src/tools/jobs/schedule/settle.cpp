#include "tools/jobs/schedule/settle.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/process/signal_name.h"
#include "core/base/text/path_pattern.h"
#include "core/base/text/text.h"
#include "planning/direct_recipe.h"
#include "tools/jobs/job_file/placeholders.h"
#include "tools/jobs/process/job_environment.h"
#include "tools/jobs/process/out_of_memory.h"

namespace lockstep {
namespace fs = std::filesystem;

namespace {

constexpr int most_losses = 5;  // a job whose attempts are lost this often ends its own supervisor

// Whether a file matches the pattern. A pattern that became too long when its placeholders were
// filled matches none.
bool any_file_matches(const std::string& pattern) {
  if (pattern.size() > most_path_pattern_bytes) return false;
  const std::vector<std::string> paths = paths_matching(pattern);
  return std::any_of(paths.begin(), paths.end(), [](const std::string& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);  // false for a link to a missing file
  });
}

// A pattern that matches only this text.
std::string literal_pattern(const std::string& text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("*?[\\").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

// Returns the missing output of the job, or "". `out` is the folder of the attempt, or the job's
// folder if the output was already published.
std::string missing_output(const Job& job, const Attempt& attempt, const fs::path& out) {
  const AttemptValues values{.out = out.string(),
                             .slot = attempt.slot,
                             .cores = job.whole_cores(),
                             .attempt = attempt.number};
  std::error_code ignored;
  AttemptValues as_pattern = values;
  as_pattern.out = literal_pattern(values.out);
  for (const std::string& output : job.outputs)
    if (!fs::exists(out / fill_attempt(output, values), ignored) &&
        !any_file_matches(fs::path(as_pattern.out) / fill_attempt(output, as_pattern)))
      return output;
  return {};
}

// Returns "", or the reason for the failure. A scheduler may be killed at any point and calls this
// again. As long as `from` exists, it is the folder to publish.
std::string publish(const fs::path& from, const fs::path& to) {
  // folder that an earlier attempt had published
  const fs::path before = from.string() + ".before";
  std::error_code error;
  if (fs::exists(from, error)) {
    if (fs::exists(to, error)) {
      fs::remove_all(before, error);
      fs::rename(to, before, error);
    }
    if (!error && ::rmdir(from.c_str()) != 0) {
      fs::create_directories(to.parent_path(), error);
      fs::rename(from, to, error);
    }
    if (error)
      return cat("cannot rename ", from.string(), " to ", to.string(), ": ", error.message());
  }
  fs::remove_all(before, error);
  return {};
}

constexpr double nearly_all = 0.97;  // share of a device's memory

// The text that shows that the job ran out of memory. "" if it did not.
std::string out_of_memory(const OnDevices& devices, const fs::path& log) {
  if (std::string line = out_of_memory_line(log); !line.empty()) return line;
  if (devices.device_bytes <= 0 || static_cast<double>(devices.sight.peak_bytes) <
                                       nearly_all * static_cast<double>(devices.device_bytes))
    return {};
  return "it failed when it had all of the device's memory";
}

AttemptOutcome outcome_of(const Job& job, const JobExit& exit) {
  if (exit.ended_by == ended_by_timeout) return AttemptOutcome::timed_out;
  if (exit.ended_by == ended_by_cancel) return AttemptOutcome::cancelled;
  if (exit.ended_by == ended_by_stop) return AttemptOutcome::stopped;
  if (exit.ended_by == ended_by_place) return AttemptOutcome::failed;
  if (!exit.problem.empty()) return AttemptOutcome::failed;
  if (std::find(job.skip_codes.begin(), job.skip_codes.end(), exit.code) != job.skip_codes.end())
    return AttemptOutcome::skipped;
  return exit.code == 0 ? AttemptOutcome::done : AttemptOutcome::failed;
}

std::string reason_of(const Job& job, const JobExit& exit, AttemptOutcome outcome) {
  if (outcome == AttemptOutcome::timed_out)
    return cat("took longer than ", general(job.timeout_s.value_or(0), 6), " s");
  if (outcome == AttemptOutcome::cancelled) return "cancelled by request";
  if (outcome == AttemptOutcome::stopped) return "the batch was stopped";
  if (!exit.problem.empty()) return exit.problem;
  if (exit.signal != 0) return cat("ended by ", signal_name(exit.signal));
  return exit.code == 0 ? std::string() : cat("exit code ", exit.code);
}

JobState state_after(AttemptOutcome outcome, const Job& job, int tries) {
  switch (outcome) {
    case AttemptOutcome::done:
      return JobState::done;
    case AttemptOutcome::skipped:
      return JobState::skipped;
    case AttemptOutcome::cancelled:
      return JobState::cancelled;
    case AttemptOutcome::stopped:
    case AttemptOutcome::lost:
      return JobState::waiting;
    default:
      return tries < job.retries ? JobState::waiting : JobState::failed;
  }
}

}  // namespace

Settled settle(const BatchFolder& batch, const Job& job, const Attempt& attempt, const JobExit& how,
               int tries, const OnDevices& devices) {
  JobExit exit = how;
  // The supervisor knows whether the attempt had ended before the request to end it. If the
  // scheduler sent the signal itself, the times decide. An attempt on a device of others has no
  // valid result in any case.
  if (exit.ended_by.empty() && (attempt.asked == ended_by_place ||
                                (attempt.signalled > 0 && exit.ended >= attempt.signalled)))
    exit.ended_by = attempt.asked;
  AttemptOutcome outcome = outcome_of(job, exit);
  std::string reason = reason_of(job, exit, outcome);
  if (exit.ended_by == ended_by_place)
    reason = cat("ran on ",
                 devices.sight.wrong_device.empty() ? "another device" : devices.sight.wrong_device,
                 ", which is not the device it was given");
  bool counts = outcome != AttemptOutcome::stopped;
  const fs::path out = batch.attempt(attempt.id), published = batch.published(job.name);
  JobResults results = read_job_results(out / events_file);
  if (outcome == AttemptOutcome::done) {
    std::error_code ignored;
    const bool done_before = !fs::exists(out, ignored) && fs::exists(published, ignored);
    if (done_before) results = read_job_results(published / events_file);
    const std::string missing = missing_output(job, attempt, done_before ? published : out);
    if (!missing.empty()) reason = cat("exit code 0, but the output ", missing, " is not there");
    if (missing.empty()) reason = publish(out, published);
    if (!reason.empty()) outcome = AttemptOutcome::failed;
  } else {
    ::rmdir(out.c_str());  // only removes an empty folder
  }
  if (outcome == AttemptOutcome::failed && exit.ended_by.empty() && !attempt.devices.empty())
    if (const std::string line = out_of_memory(devices, batch.log(job.name, attempt.number));
        !line.empty()) {
      outcome = AttemptOutcome::out_of_memory;
      counts = !devices.shared;
      reason = cat("out of memory on ", devices.shared ? "a device that it shared" : "its device",
                   ": ", line);
    }
  if (!exit.cleared)
    reason += cat(reason.empty() ? "" : "; ", "left processes that cannot be ended");
  Settled result{.end = {.outcome = outcome,
                         .reason = reason,
                         .exit_code = exit.code,
                         .signal = exit.signal,
                         .started = exit.started,
                         .ended = exit.ended,
                         .cpu_s = exit.cpu_s,
                         .max_rss_bytes = exit.max_rss_bytes,
                         .counts = counts,
                         .results = std::move(results)},
                 .state = counts ? state_after(outcome, job, tries) : JobState::waiting};
  if (!attempt.devices.empty()) {
    result.end.placement = to_string(devices.sight.verdict);
    result.end.gpu_memory_bytes = devices.sight.peak_bytes;
    result.end.gpu_activity_percent = devices.sight.activity_percent();
  }
  const bool tried = outcome == AttemptOutcome::failed || outcome == AttemptOutcome::timed_out ||
                     outcome == AttemptOutcome::out_of_memory;
  if (tried && result.state == JobState::waiting)
    result.not_before = exit.ended + job.retry_delay_s;
  return result;
}

Settled settle_short(const JobExit& exit) {
  constexpr double again_after_s = 1;
  return {.end = {.outcome = AttemptOutcome::stopped,
                  .reason = exit.problem,
                  .exit_code = exit.code,
                  .started = exit.started,
                  .ended = exit.ended,
                  .counts = false},
          .state = JobState::waiting,
          .not_before = exit.ended + again_after_s};
}

Settled settle_lost(const std::string& why, int times_lost) {
  return {.end = {.outcome = AttemptOutcome::lost, .reason = why},
          .state = times_lost < most_losses ? JobState::waiting : JobState::failed};
}

void go_on(const BatchFolder& batch, std::int64_t earlier, std::int64_t attempt, Job& job) {
  std::error_code ignored;
  if (earlier != 0) fs::rename(batch.attempt(earlier), batch.attempt(attempt), ignored);
  const bool says = std::any_of(job.command.begin(), job.command.end(), [](const auto& word) {
    return word == "--resume" || word.starts_with("--resume=");
  });
  if (!says) job.command.insert(job.command.end(), {"--resume", "auto"});
}

bool goes_on(const Job& job) {
  return !job.shell && job.command.size() > 1 &&
         fs::path(job.command[0]).filename() == "lockstep" && job.command[1] == "train" &&
         std::none_of(job.command.begin() + 2, job.command.end(), [](const std::string& word) {
           return find_direct_recipe(word) != nullptr;  // a direct recipe has no checkpoints
         });
}

}  // namespace lockstep
