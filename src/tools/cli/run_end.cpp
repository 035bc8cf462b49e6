// Messages at the end of a run. They state the event first, then further facts, then remedies.
#include "tools/cli/run_end.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "tools/cli/context.h"

#include <csignal>
#include <vector>

namespace lockstep::cli {
namespace {

constexpr const char* nothing_saved = "nothing was saved";

bool has_checkpoint(const RunDir& run) {
  for (const CheckpointInfo& checkpoint : list_checkpoints(run.checkpoints(), /*thorough=*/false))
    if (checkpoint.damage.empty()) return true;
  return false;
}

std::string what_is_left(const RunDir& run, const GoOn& go_on) {
  if (!has_checkpoint(run)) return nothing_saved;
  return "what was saved is kept: " + go_on.command;
}

void write_down(const RunDir& run, RunState state, const std::string& why) {
  if (const std::string fault = run.try_write_state(state, why); !fault.empty())
    say(cat("warning: the run's state could not be written: ", fault));
}

std::string block(const std::string& text) { return text.empty() ? "" : "\n" + text + "\n"; }

std::string last_lines(const RankFailed& failed) {
  std::string text;
  for (const std::string& line : split(failed.last_lines, '\n'))
    if (!line.empty()) text += "  | " + line + "\n";
  if (text.empty()) return "";
  return cat("\nlast lines of ", failed.log.string(), ":\n", text);
}

// The rank's message after its first line.
std::string more_of(const RankError& error) {
  const std::size_t newline = error.what.find('\n');
  const std::string rest = newline == error.what.npos ? "" : error.what.substr(newline + 1);
  return block(trim(rest)) + block(error.frames);
}

std::string text_of(const RankFailed& failed, const std::vector<std::string>& hints) {
  std::string text = cat("error: ", failure_text(failed), "\n", block(failed.memory));
  text += failed.error ? more_of(*failed.error) : last_lines(failed);
  std::vector<std::string> said;
  for (const std::string& hint : hints)
    if (!hint.empty()) said.push_back(hint);
  if (!said.empty()) text += "\nhint: " + join(said, ";\n      ") + "\n";
  return trim(text);
}

std::string hint_of(const RankFailed& failed) {
  if (failed.error) return failed.error->hint;
  if (failed.how.starts_with("hangs: "))
    return "if an operation may take that long here, raise stop.hang_after (1m by default); else "
           "the stacks and the log of the rank show where it is (lockstep help hang)";
  return failed.memory.empty()
             ? ""
             : "if it was memory: fewer ranks (--devices), a smaller batch.micro or fewer "
               "data.threads take less";
}

int report_failure(const RankFailed& failed, const RunDir& run, const GoOn& go_on) {
  if (is_users_error(failed)) {
    const RankError& error = *failed.error;
    say(trim(cat("error: ", error.what, "\n", error.hint.empty() ? "" : "\nhint: " + error.hint)));
    write_down(run, RunState::failed, error.what);
    return exit_usage;
  }
  say(text_of(failed, {hint_of(failed), has_checkpoint(run) ? what_is_left(run, go_on) : ""}));
  write_down(run, RunState::failed, failure_text(failed));
  return exit_failed;
}

}  // namespace

std::string failure_text(const RankFailed& failed) {
  const std::string who = cat("rank ", failed.rank, " on ", failed.device, " failed");
  const std::string where = failed.where.empty() ? "" : " " + failed.where;
  if (!failed.error) return cat(who, ": ", failed.how, where, failed.others);
  return cat(who, where, ": ", split(failed.error->what, '\n').at(0), failed.others);
}

bool is_users_error(const RankFailed& failed) { return failed.error && failed.error->is_users; }

int report_outcome(const LaunchOutcome& outcome, const RunDir& run, const std::string& why,
                   const GoOn& go_on) {
  if (std::holds_alternative<Finished>(outcome)) return exit_finished;
  if (std::holds_alternative<Stopped>(outcome)) {
    say(cat("stopped (", why, "); ", has_checkpoint(run) ? go_on.text() : nothing_saved));
    return exit_stopped;
  }
  if (const auto* interrupted = std::get_if<Interrupted>(&outcome)) {
    say(cat("interrupted: ", interrupted->why, "; ", what_is_left(run, go_on)));
    write_down(run, RunState::interrupted, interrupted->why);
    return exit_interrupted;
  }
  return report_failure(std::get<RankFailed>(outcome), run, go_on);
}

int report_reading(const LaunchOutcome& outcome) {
  if (std::holds_alternative<Finished>(outcome)) return exit_finished;
  const auto* failed = std::get_if<RankFailed>(&outcome);
  if (failed == nullptr) {
    say("interrupted");
    return exit_interrupted;
  }
  // the reader of the output has closed it
  if (failed->exit_code == 128 + SIGPIPE) return failed->exit_code;
  if (is_users_error(*failed)) throw Error(failed->error->what, failed->error->hint);
  say(text_of(*failed, {hint_of(*failed)}));
  return exit_failed;
}

}  // namespace lockstep::cli
