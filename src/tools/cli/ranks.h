// Runs the ranks of a run, and shows their progress.
#pragma once

#include "core/config/options.h"
#include "runtime/launch/launch.h"

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

struct Ranks {
  std::vector<std::string> arguments;  // arguments of lockstep-worker
  std::vector<Device> devices;         // one per rank
  std::filesystem::path log_dir;
  bool pass_stdout = false;  // whether rank 0 writes to the standard output of this program
  // Receives the events of rank 0, which are also shown.
  std::function<void(const nlohmann::json&)> on_event{};
  // These three members are as in LaunchSpec; only training sets them.
  Duration hang_after{};
  std::uint64_t log_limit_bytes = LaunchSpec().log_limit_bytes;
  std::function<double()> stop_grace_s = LaunchSpec().stop_grace_s;
  // Whether to print a message as soon as a signal comes. It is for training, which stops only
  // after the step in progress.
  bool stops_after_step = false;
  // Called when a signal has come, if stops_after_step is set.
  std::function<void()> on_signal{};
};

// Returns the LaunchSpec::log_mark of a start that begins now: "--- started 2026-01-31 09:30:00".
std::string log_mark();

// Starts `lockstep-worker ARGUMENTS` once per device, shows progress, and waits for the end.
LaunchOutcome run_ranks(const Ranks& ranks);

}  // namespace lockstep::cli
