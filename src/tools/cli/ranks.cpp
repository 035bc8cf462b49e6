// Launches ranks and shows progress on standard error.
#include "tools/cli/ranks.h"

#include "core/base/process/signal_name.h"
#include "core/base/text/text.h"
#include "runtime/launch/output/output_queue.h"
#include "runtime/launch/supervision.h"
#include "runtime/run/events/start_up.h"
#include "runtime/run/progress/progress.h"
#include "tools/cli/context.h"
#include "tools/cli/train/training_leases.h"
#include "tools/report/pages/shown.h"

#include <unistd.h>
#include <nlohmann/json.hpp>

#include <csignal>
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

// Makes the progress display. A stopped terminal (Ctrl-S) must not block the handling of ranks, so
// unread text is dropped. The run's events still contain it.
Progress make_progress(const std::vector<Device>& devices, OutputQueue& shown) {
  ProgressOptions options{
      .terminal = stderr_is_terminal(), .colour = colour_wanted(), .width = terminal_width()};
  options.device_status = device_status(devices);
  options.write = [&shown](const std::string& text) {
    if (!shown.full()) shown.add(text);
  };
  options.keep = add_to_transcript;
  return Progress(std::move(options), system_clock());
}

std::string answer_to(int signal) {
  return cat(signal == SIGINT ? "" : cat(signal_name(signal), ": "), "stopping after this step",
             signal == SIGUSR1 ? "" : "; again to stop now");
}

}  // namespace

std::string log_mark() { return cat("--- started ", shown_time(system_clock().wall_s())); }

LaunchOutcome run_ranks(const Ranks& ranks) {
  LaunchSpec spec;
  spec.argv = {worker_program().string()};
  spec.argv.insert(spec.argv.end(), ranks.arguments.begin(), ranks.arguments.end());
  spec.devices = ranks.devices;
  spec.log_dir = ranks.log_dir;
  spec.log_mark = log_mark();
  spec.log_limit_bytes = ranks.log_limit_bytes;
  spec.hang_after_s = ranks.hang_after.seconds;
  spec.stop_grace_s = ranks.stop_grace_s;
  spec.knows_hangup = true;
  if (ranks.pass_stdout) spec.pass_stdout_rank = 0;
  OutputQueue shown(STDERR_FILENO);
  Progress progress = make_progress(ranks.devices, shown);
  spec.on_event = [&](const nlohmann::json& event) {
    progress.on_event(event);
    if (ranks.on_event) ranks.on_event(event);
  };
  if (ranks.stops_after_step)
    spec.on_signal = [&](int signal) {
      progress.note(answer_to(signal));
      if (ranks.on_signal) ranks.on_signal();
    };
  spec.environment["LOCKSTEP_START"] =
      start_variable(begin_s(), system_clock().now_s(), earlier_s());
  const std::vector<UniqueFd> leases = lease_for_training(ranks.devices);
  LaunchOutcome outcome = launch(spec, system_clock());
  progress.finish();
  constexpr double showing_s = 5;
  shown.wait_s(showing_s);
  return outcome;
}

}  // namespace lockstep::cli
