// Implements `lockstep launch`, which starts any program once per device.
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/config/options.h"
#include "core/devices/gpus/cuda_order.h"
#include "runtime/launch/restart.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/ranks.h"
#include "tools/cli/run_end.h"
#include "tools/cli/words/script_command.h"

#include <unistd.h>

#include <cctype>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string_view>

namespace lockstep::cli {
namespace {

constexpr const char* many_devices =
    "--devices says where a process each is started: all, 0,1 or cpu:4";

constexpr const char* python_module = "write python3 before it: lockstep launch python3 -m MODULE";
constexpr const char* several_hosts =
    "lockstep launch is for one machine; for several see lockstep help several hosts";
constexpr const char* meeting_place =
    "leave it out: the ranks meet on this machine, at a port that is free";

int number(const Parsed& parsed, const std::string& flag, const std::string& otherwise) {
  const std::string text = parsed.value(flag, otherwise);
  const auto count = whole_number<int>(text, 0, 1'000'000);
  if (!count)
    throw Error(cat(flag, " must be a number from 0 to 1000000, but is ", text),
                cat("for example ", flag, " 3; 0 is none"));
  return *count;
}

// The indexes of these GPUs, for programs that accept only numbers in CUDA_VISIBLE_DEVICES. Empty
// if CUDA may use another order, as with MIG or a faulty GPU.
std::vector<std::string> gpu_numbers(const std::vector<Device>& devices) {
  if (devices[0].kind != DeviceKind::cuda) return {};
  const std::vector<GpuInfo> gpus = probe().gpus();
  const CudaOrder order =
      cuda_order(gpus, nullptr, "PCI_BUS_ID",
                 []() -> std::optional<std::vector<std::string>> { return std::nullopt; });
  std::vector<std::string> numbers;
  for (const Device& device : devices)
    for (std::size_t i = 0; order.known && i < gpus.size(); ++i)
      if (gpus[i].uuid == device.uuid && order.ordinals[i])
        numbers.push_back(cat(*order.ordinals[i]));
  return numbers.size() == devices.size() ? numbers : std::vector<std::string>{};
}

// Throws Error for a Python script without an interpreter. torchrun accepts one, so users may try
// it.
void check_program(const std::vector<std::string>& words) {
  if (words.empty())
    throw Error("lockstep launch needs a program", "for example lockstep launch python3 train.py");
  const std::string& program = words[0];
  if (program.ends_with(".py") && access(program.c_str(), X_OK) != 0 &&
      std::filesystem::exists(program))
    throw Error(cat(program, " is no program that can be started by itself"),
                cat("write python3 before it: lockstep launch python3 ", shell_word(program)));
}

// Advice on a failure, taken from the rank's output. "" if there is none.
std::string hint_by_output(const std::string& last_lines) {
  std::string small = last_lines;
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto says = [&](std::string_view text) { return small.find(text) != small.npos; };
  if (says("eaddrinuse") || says("address already in use"))
    return "if the script starts its own processes (mp.spawn, nprocs) or sets MASTER_PORT, "
           "every rank here does so too: start it with python3 alone, or take both out and "
           "use LOCAL_RANK (lockstep help mp.spawn);\n      ";
  if (says("process group has not been initialized") || says("process group not initialized"))
    return "the script must call torch.distributed.init_process_group() before it uses "
           "torch.distributed or DistributedDataParallel; the variables for it are set here "
           "(lockstep help process group not initialized);\n      ";
  return "";
}

int launch_main(const Parsed& parsed) {
  check_program(parsed.program);
  check_no_notebook(parsed.program, parsed.value("--devices"));
  LaunchSpec spec;
  spec.argv = parsed.program;
  spec.devices = devices_for(parsed.value("--devices"));
  spec.log_dir = parsed.value("--logs", "logs");
  spec.log_mark = log_mark();
  spec.log_limit_bytes = static_cast<std::uint64_t>(number(parsed, "--log-limit-mb", "64")) << 20;
  spec.serves_store = false;
  spec.forward_output = true;
  spec.one_gpu_visible = false;  // programs choose their GPU by LOCAL_RANK
  spec.gpu_names = gpu_numbers(spec.devices);
  spec.gives_input = parsed.has("--stdin");
  spec.run_id = cat("lockstep-", ::getpid(), "-", std::lround(system_clock().wall_s()));
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
  // The rank's output has been shown already, so it is not repeated.
  say(cat("error: ", failure_text(failed), failed.memory.empty() ? "" : "\n\n" + failed.memory,
          "\n\nhint: ", hint_by_output(failed.last_lines), "all that it printed is in ",
          failed.log.string()));
  return failed.exit_code == 0 ? exit_failed : failed.exit_code;
}

}  // namespace

Command launch_command() {
  return {.name = "launch",
          .operands = "[flags] PROGRAM [ARGUMENT …]",
          .summary = "start any program once per device, with torchrun's environment",
          .details =
              "lockstep launch --devices 0,1 python3 train.py --epochs 3\n"
              "Flags before PROGRAM are those below; all words after it are its own. A -- before "
              "PROGRAM may be left out.\n"
              "The first rank that fails ends all ranks; every rank's output is kept in --logs. No "
              "rank reads standard input, unless --stdin gives it to rank 0.",
          .flags = {{"--devices", "LIST",
                     "a process on each: all, cpu, cpu:4, 0,1 or UUIDs (default all)", "devices"},
                    {"--restart", "N", "start all ranks again up to N times after a failure", ""},
                    {"--hang-after", "TIME",
                     "end all ranks when a rank is stopped, or a worker of Lockstep hangs, for "
                     "this long (default 60s; 0s: never)",
                     ""},
                    {"--stop-grace", "TIME",
                     "how long ranks may take to stop after Ctrl-C or SIGTERM before they are "
                     "killed (default 60s)",
                     ""},
                    {"--stdin", "", "rank 0 reads standard input, as for input() and breakpoint()"},
                    {"--logs", "DIR", "folder for rankN.log (default logs)", "file"},
                    {"--log-limit-mb", "N",
                     "size of a log beyond which only its beginning and its newest part are kept "
                     "(default 64; 0: no limit)",
                     ""}},
          .takes_program = true,
          .complete = "program",
          .run = launch_main,
          .tried_flags = {{"--nproc-per-node", many_devices},
                          {"--nproc_per_node", many_devices},
                          {"--gpus", many_devices},
                          {"--standalone", "leave it out: the ranks meet on this machine"},
                          {"-m", python_module},
                          {"--module", python_module},
                          {"--no-python", "leave it out: PROGRAM may be any program"},
                          {"--no_python", "leave it out: PROGRAM may be any program"},
                          {"--nnodes", several_hosts},
                          {"--node-rank", several_hosts},
                          {"--node_rank", several_hosts},
                          {"--master-addr", meeting_place},
                          {"--master_addr", meeting_place},
                          {"--master-port", meeting_place},
                          {"--master_port", meeting_place},
                          {"--rdzv-backend", meeting_place},
                          {"--rdzv_backend", meeting_place},
                          {"--rdzv-endpoint", meeting_place},
                          {"--rdzv_endpoint", meeting_place},
                          {"--rdzv-id", meeting_place},
                          {"--rdzv_id", meeting_place},
                          {"--max-restarts", "it is called --restart"},
                          {"--max_restarts", "it is called --restart"},
                          {"--log-dir", "it is called --logs"},
                          {"--log_dir", "it is called --logs"},
                          {"--redirects", "leave it out: each rank's output is in --logs, too"},
                          {"-r", "leave it out: each rank's output is in --logs, too"},
                          {"--tee", "leave it out: each rank's output is in --logs, too"},
                          {"-t", "leave it out: each rank's output is in --logs, too"},
                          {"-n", many_devices},
                          {"-np", many_devices}}};
}

}  // namespace lockstep::cli
