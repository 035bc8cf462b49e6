// lockstep launch: any program, once a device.
#include "base/error.h"
#include "base/text.h"
#include "base/whole_number.h"
#include "cli/commands.h"
#include "cli/context.h"
#include "config/options.h"
#include "launch/restart.h"

namespace lockstep::cli {
namespace {

int restarts_of(const Parsed& parsed) {
  const std::string text = parsed.value("--restart", "0");
  const auto count = whole_number<int>(text, 0, 1'000'000);
  if (!count)
    throw Error(cat("--restart must be a number of times, but is ", text),
                "for example --restart 3; 0 is none");
  return *count;
}

int launch_main(const Parsed& parsed) {
  if (parsed.rest.empty())
    throw Error("lockstep launch needs a program",
                "lockstep launch --devices all -- python3 train.py");
  LaunchSpec spec;
  spec.argv = parsed.rest;
  spec.devices = devices_for(parsed.value("--devices"));
  spec.log_dir = parsed.value("--logs", "logs");
  spec.own_listener = false;
  spec.forward_output = true;
  spec.one_gpu_visible = false;  // programs choose theirs by LOCAL_RANK
  spec.hang_after_s = parse_duration(parsed.value("--hang-after", "60s")).seconds;
  const LaunchOutcome outcome = launch_with_restarts(
      spec, system_clock(), restarts_of(parsed), [](int restart, const RankFailed& failed) {
        say(cat("rank ", failed.rank, " on ", failed.device, " failed: ", failed.how,
                "; starting all ranks again (restart ", restart, ")"));
      });
  if (std::holds_alternative<Finished>(outcome)) return exit_finished;
  if (std::holds_alternative<Stopped>(outcome)) return exit_stopped;
  if (std::holds_alternative<Interrupted>(outcome)) return exit_interrupted;
  const auto& failed = std::get<RankFailed>(outcome);
  say(cat("error: rank ", failed.rank, " on ", failed.device, " failed: ", failed.how,
          "\n\nlast lines:\n", failed.last_lines));
  return failed.exit_code == 0 ? exit_failed : failed.exit_code;
}

}  // namespace

Command launch_command() {
  return {.name = "launch",
          .operands = "[flags] -- CMD …",
          .summary = "start any program once a device, with torchrun's environment",
          .details = "The first rank that fails ends all; every rank's output is kept in --logs.",
          .flags = {{"--devices", "LIST", "all, cpu, cpu:4, 0,1 or UUIDs (default all)", "devices"},
                    {"--restart", "N", "start all ranks again up to N times after a failure", ""},
                    {"--hang-after", "TIME",
                     "end all when a rank is stopped, or a worker of Lockstep hangs, for so long "
                     "(default 60s; 0s: never)",
                     ""},
                    {"--logs", "DIR", "where rankN.log go (default logs)", "file"}},
          .takes_rest = true,
          .run = launch_main};
}

}  // namespace lockstep::cli
