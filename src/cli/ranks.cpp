// Launching, progress, and the words for how it ended.
#include "cli/ranks.h"

#include "base/text.h"
#include "cli/context.h"
#include "run/progress.h"

#include <nlohmann/json.hpp>

#include <iostream>
#include <type_traits>

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
  return Progress({.terminal = stderr_is_terminal(),
                   .colour = colour_wanted(),
                   .width = terminal_width(),
                   .device_status = device_status(devices),
                   .write = [](const std::string& text) { std::cerr << text << std::flush; }},
                  system_clock());
}

std::string indented(const std::string& text) {
  std::string out;
  for (const std::string& line : split(text, '\n'))
    if (!line.empty()) out += "  | " + line + "\n";
  return out;
}

}  // namespace

LaunchOutcome run_ranks(const std::vector<std::string>& arguments,
                        const std::vector<Device>& devices, const std::filesystem::path& log_dir,
                        bool pass_stdout,
                        const std::function<void(const nlohmann::json&)>& on_event) {
  LaunchSpec spec;
  spec.argv = {worker_program().string()};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.devices = devices;
  spec.log_dir = log_dir;
  if (pass_stdout) spec.pass_stdout_rank = 0;
  Progress progress = make_progress(devices);
  spec.on_event = [&](std::string_view line) {
    const nlohmann::json event = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!event.is_object()) return;
    progress.on_event(event);
    if (on_event) on_event(event);
  };
  LaunchOutcome outcome = launch(spec, system_clock());
  progress.finish();
  return outcome;
}

int report_outcome(const LaunchOutcome& outcome, const RunDir& run, const std::string& why) {
  if (std::holds_alternative<Finished>(outcome)) return exit_finished;
  if (std::holds_alternative<Stopped>(outcome)) {
    say(cat("stopped (", why, "); go on with: lockstep resume ", run.path().string()));
    return exit_stopped;
  }
  if (std::holds_alternative<Interrupted>(outcome)) {
    run.write_state(RunState::interrupted, "a second interrupt");
    say(cat("interrupted; what was saved is kept: lockstep resume ", run.path().string()));
    return exit_interrupted;
  }
  const auto& failed = std::get<RankFailed>(outcome);
  const std::string what =
      cat("rank ", failed.rank, " on ", failed.device, " failed: ", failed.how);
  run.write_state(RunState::failed, what);
  const std::string log = indented(failed.last_lines);
  say(cat("error: ", what, "\n", log.empty() ? "" : "\nlast lines of ",
          log.empty() ? "" : run.log_path(failed.rank).string() + ":\n", log,
          "\nhint: what was saved is kept: lockstep resume ", run.path().string()));
  return exit_failed;
}

}  // namespace lockstep::cli
