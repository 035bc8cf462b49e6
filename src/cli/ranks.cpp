// Launching, progress, and the words for how it ended.
#include "cli/ranks.h"

#include "base/error.h"
#include "base/text.h"
#include "cli/context.h"
#include "run/progress.h"
#include "run/start_up.h"

#include <nlohmann/json.hpp>

#include <csignal>
#include <iostream>
#include <optional>
#include <type_traits>
#include <utility>

namespace lockstep::cli {
namespace {

std::function<std::string()> device_status(const std::vector<Device>& devices) {
  if (devices.empty() || devices[0].kind != DeviceKind::cuda) return {};
  return [devices] {
    std::string text = cat(devices.size(), devices.size() == 1 ? " GPU" : " GPUs");
    for (const Device& device : devices) {
      const auto percent = probe().utilization_percent(device.uuid);
      if (!percent) return std::string();
      text += cat(" ", *percent, "%");
    }
    return text;
  };
}

Progress make_progress(const std::vector<Device>& devices) {
  ProgressOptions options{
      .terminal = stderr_is_terminal(), .colour = colour_wanted(), .width = terminal_width()};
  options.device_status = device_status(devices);
  options.write = [](const std::string& text) { std::cerr << text << std::flush; };
  return Progress(std::move(options), system_clock());
}

std::string indented(const std::string& text) {
  std::string out;
  for (const std::string& line : split(text, '\n'))
    if (!line.empty()) out += "  | " + line + "\n";
  return out;
}

// The error with which a rank left, from the end of its log; nothing if it did not end so.
std::optional<Error> own_error(const RankFailed& failed) {
  const std::string mark = "error: ", hint_mark = "\n\nhint: ";
  if (failed.exit_code != exit_usage) return std::nullopt;
  std::size_t begin = failed.last_lines.rfind("\n" + mark);
  begin = begin == std::string::npos ? 0 : begin + 1;
  if (failed.last_lines.compare(begin, mark.size(), mark) != 0) return std::nullopt;
  const std::string text = trim(failed.last_lines.substr(begin + mark.size()));
  const std::size_t hint = text.find(hint_mark);
  if (hint == std::string::npos) return Error(text);
  return Error(text.substr(0, hint), text.substr(hint + hint_mark.size()));
}

std::string resume_command_for(const RunDir& run) {
  return "lockstep resume " + shell_word(run.path().string());
}

// A failed run's state, and what went wrong; the exit code.
int report_failure(const RankFailed& failed, const RunDir& run) {
  if (const std::optional<Error> error = own_error(failed)) {
    run.write_state(RunState::failed, error->what());
    say(cat("error: ", error->what(), error->hint().empty() ? "" : "\n\nhint: ", error->hint()));
    return exit_usage;
  }
  run.write_state(RunState::failed, failure_text(failed));
  const std::string log = indented(failed.last_lines);
  say(cat("error: ", failure_text(failed), "\n", log.empty() ? "" : "\nlast lines of ",
          log.empty() ? "" : run.log_path(failed.rank).string() + ":\n", log,
          "\nhint: what was saved is kept: ", resume_command_for(run)));
  return exit_failed;
}

}  // namespace

std::string failure_text(const RankFailed& failed) {
  return cat("rank ", failed.rank, " on ", failed.device, " failed: ", failed.how);
}

bool is_users_error(const RankFailed& failed) { return own_error(failed).has_value(); }

LaunchOutcome run_ranks(const std::vector<std::string>& arguments,
                        const std::vector<Device>& devices, const std::filesystem::path& log_dir,
                        bool pass_stdout,
                        const std::function<void(const nlohmann::json&)>& on_event,
                        Duration hang_after) {
  LaunchSpec spec;
  spec.hang_after_s = hang_after.seconds;
  spec.grace_s = 2;  // a rank without the others has nothing to save
  spec.argv = {worker_program().string()};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.devices = devices;
  spec.log_dir = log_dir;
  spec.knows_hangup = true;
  if (pass_stdout) spec.pass_stdout_rank = 0;
  Progress progress = make_progress(devices);
  spec.on_event = [&](std::string_view line) {
    const nlohmann::json event = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!event.is_object()) return;
    progress.on_event(event);
    if (on_event) on_event(event);
  };
  spec.environment["LOCKSTEP_START"] = start_variable(begin_s(), system_clock().now_s());
  LaunchOutcome outcome = launch(spec, system_clock());
  progress.finish();
  return outcome;
}

int report_outcome(const LaunchOutcome& outcome, const RunDir& run, const std::string& why) {
  if (std::holds_alternative<Finished>(outcome)) return exit_finished;
  if (std::holds_alternative<Stopped>(outcome)) {
    say(cat("stopped (", why, "); go on with: ", resume_command_for(run)));
    return exit_stopped;
  }
  if (std::holds_alternative<Interrupted>(outcome)) {
    run.write_state(RunState::interrupted, "a second interrupt");
    say(cat("interrupted; what was saved is kept: ", resume_command_for(run)));
    return exit_interrupted;
  }
  return report_failure(std::get<RankFailed>(outcome), run);
}

int report_reading(const LaunchOutcome& outcome) {
  if (std::holds_alternative<Finished>(outcome)) return exit_finished;
  const auto* failed = std::get_if<RankFailed>(&outcome);
  if (failed == nullptr) {
    say("interrupted");
    return exit_interrupted;
  }
  if (failed->exit_code == 128 + SIGPIPE) return failed->exit_code;  // the reader has seen enough
  if (const std::optional<Error> error = own_error(*failed)) throw *error;
  const std::string log = indented(failed->last_lines);
  say(cat("error: ", failure_text(*failed), log.empty() ? "" : "\n\nits last lines:\n" + log));
  return exit_failed;
}

}  // namespace lockstep::cli
