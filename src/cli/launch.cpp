// lockstep launch: any program, once a device.
#include "base/error.h"
#include "base/text.h"
#include "base/whole_number.h"
#include "cli/commands.h"
#include "cli/context.h"
#include "cli/run_end.h"
#include "config/options.h"
#include "launch/restart.h"

namespace lockstep::cli {
namespace {

int number(const Parsed& parsed, const std::string& flag, const std::string& otherwise) {
  const std::string text = parsed.value(flag, otherwise);
  const auto count = whole_number<int>(text, 0, 1'000'000);
  if (!count)
    throw Error(cat(flag, " must be a number from 0 to 1000000, but is ", text),
                cat("for example ", flag, " 3; 0 is none"));
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
  spec.log_limit_bytes = static_cast<std::uint64_t>(number(parsed, "--log-limit-mb", "64")) << 20;
  spec.own_listener = false;
  spec.forward_output = true;
  spec.one_gpu_visible = false;  // programs choose theirs by LOCAL_RANK
  spec.hang_after_s = parse_duration(parsed.value("--hang-after", "60s")).seconds;
  const double stop_grace_s = parse_duration(parsed.value("--stop-grace", "60s")).seconds;
  spec.stop_grace_s = [=] { return stop_grace_s; };
  const LaunchOutcome outcome = launch_with_restarts(
      spec, system_clock(), number(parsed, "--restart", "0"),
      [](int restart, const RankFailed& failed) {
        say(cat(failure_text(failed), "; starting all ranks again (restart ", restart, ")"));
      });
  if (std::holds_alternative<Finished>(outcome)) return exit_finished;
  if (std::holds_alternative<Stopped>(outcome)) return exit_stopped;
  if (const auto* interrupted = std::get_if<Interrupted>(&outcome)) {
    say(cat("interrupted: ", interrupted->why));
    return exit_interrupted;
  }
  const auto& failed = std::get<RankFailed>(outcome);
  // What it printed has been shown already.
  say(cat("error: ", failure_text(failed), failed.memory.empty() ? "" : "\n\n" + failed.memory,
          "\n\nhint: all that it printed is in ", failed.log.string()));
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
                    {"--stop-grace", "TIME",
                     "how long ranks may take to stop after Ctrl-C or SIGTERM before they are "
                     "killed (default 60s)",
                     ""},
                    {"--logs", "DIR", "where rankN.log go (default logs)", "file"},
                    {"--log-limit-mb", "N",
                     "size of a log beyond which its beginning and its newest part stay (default "
                     "64; 0: none)",
                     ""}},
          .takes_rest = true,
          .run = launch_main};
}

}  // namespace lockstep::cli
