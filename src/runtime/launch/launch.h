// Starts one child process per rank, watches them, and ends all of them when one fails.
#pragma once

#include "core/base/clock.h"
#include "core/base/files/fd.h"
#include "core/devices/device.h"
#include "runtime/launch/ranks/rank_error.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lockstep {

// Exit codes of user programs, documented in docs/guide.
enum ExitCode {
  exit_finished = 0,
  exit_failed = 1,
  exit_usage = 2,
  exit_skipped = 3,     // a job with nothing to do, which reported why
  exit_unexpected = 4,  // a finished batch with a result that differs from --expect
  exit_stopped = 75,
  exit_interrupted = 130
};

struct LaunchSpec {
  std::vector<std::string> argv;                   // the same for every rank
  std::vector<Device> devices;                     // one per rank
  std::map<std::string, std::string> environment;  // added to the inherited one
  // The folder of the logs; created if it is missing. Each rank's stdout and stderr are appended to
  // its rankN.log there.
  std::filesystem::path log_dir;
  std::string log_mark;  // a line between the output of an earlier start and this one; may be empty
  // limit of each log (rank_log.h); 0 = none
  std::uint64_t log_limit_bytes = std::uint64_t{64} << 20;

  // Whether the launcher serves the store in which Lockstep's workers meet. Each rank gets it
  // through LOCKSTEP_STORE_FD (store_server.h). Other programs meet at MASTER_PORT, on which one of
  // them must listen.
  bool serves_store = true;
  // For other programs (`lockstep launch`). The ranks' output is also shown on our stdout and
  // stderr (rank_screen.h). If ours is a terminal, rank 0 also gets a terminal, and the logs are
  // plain (PlainLines). If the reader of our output stalls, only ranks that print have to wait.
  bool forward_output = false;
  bool gives_input = false;  // true: rank 0 reads our standard input; false: no rank does
  // true: each rank sees only its own GPU, as cuda:0. false: each rank sees all GPUs of the run in
  // rank order, so that LOCAL_RANK is the device. torchrun does the same, and most Python programs
  // expect it.
  bool one_gpu_visible = true;
  // With one_gpu_visible = false: the name of each rank's GPU in CUDA_VISIBLE_DEVICES. If empty,
  // UUIDs are used.
  std::vector<std::string> gpu_names;
  // torchrun's run id, the same on all ranks and after each restart. If it is set, all other
  // variables of torchrun are set too. If it is empty, none of them is set.
  std::string run_id;
  int restart = 0, most_restarts = 0;
  // true: ranks get SIGHUP as it is; false: they get SIGTERM instead, which all programs handle
  bool knows_hangup = false;
  // this rank writes to our stdout instead of a pipe (predict); -1 = none
  int pass_stdout_rank = -1;

  // Receives the JSON objects that rank 0 writes to LOCKSTEP_EVENTS_FD, one per line. Each rank has
  // this descriptor, and reports there why it fails (rank_error.h). If this function is empty, the
  // variable is not set.
  std::function<void(const nlohmann::json&)> on_event;
  // Called with the number of each signal that is passed on to the ranks.
  std::function<void(int)> on_signal;
  double grace_s = 5;       // seconds from SIGTERM after the first failure to SIGKILL
  double hang_after_s = 0;  // a rank without a sign of life for this long hangs; 0 = never
  // Returns the time that ranks get to save a checkpoint after the first interrupt. It is called
  // when that interrupt comes. After this time, ranks get SIGTERM, and SIGKILL after another
  // grace_s.
  std::function<double()> stop_grace_s = [] { return 60.0; };
};

struct Finished {};  // every rank exited with 0
// At least one rank exited with exit_stopped, and the others with exit_stopped or 0. Programs other
// than Lockstep's workers must also have got a signal. Without one, this exit code is a failure.
struct Stopped {
  std::string why;  // "SIGINT"; empty if there was no signal
};
struct RankFailed {
  int rank = -1;
  std::string device;  // "cuda:1 (NVIDIA T4)"
  std::string how;     // "exit code 1", "killed by signal 9 (Killed)", "hangs: …"
  // For ranks with heartbeats (heartbeat.h). where: "in backward of step 12". others: the state of
  // the other ranks, "; rank 0 waits in all-reduce 57 of step 12".
  std::string where, others;
  std::string memory;  // how the kernel's counters explain a kill (memory_kills.h); may be empty
  std::optional<RankError> error;  // the rank's own report
  int exit_code = 1;               // the rank's exit code; 128 + signal if it was killed
  std::string last_lines;          // the last lines of its output, at most 20
  std::filesystem::path log;
};
// The run was interrupted: by a second interrupt, at the end of the grace time, or because a
// passed-on signal ended a rank.
struct Interrupted {
  std::string why;  // "a second interrupt (SIGINT)"
};
using LaunchOutcome = std::variant<Finished, Stopped, RankFailed, Interrupted>;

// Runs the ranks to their end.
//
// Each rank gets these environment variables:
// - RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, GROUP_RANK, MASTER_ADDR and MASTER_PORT.
// - On GPUs: CUDA_VISIBLE_DEVICES (see one_gpu_visible) and CUDA_DEVICE_ORDER = PCI_BUS_ID. Also
//   NCCL_SOCKET_IFNAME = lo, unless the user set it.
// - On CPU: an empty CUDA_VISIBLE_DEVICES. Also OMP_WAIT_POLICY = PASSIVE, unless the user set it
//   or GOMP_SPINCOUNT.
// - On CPU, and with run_id: OMP_NUM_THREADS = device.threads, unless the user set it.
//
// Inherited variables of outer launchers, such as TORCHELASTIC_…, are removed.
//
// Each rank is its own process group with PR_SET_PDEATHSIG = SIGKILL. The first interrupt (SIGINT,
// SIGTERM or SIGHUP) is passed on to every rank once, and so is the first SIGUSR1. SIGINT goes to
// the whole group of a rank, as from a terminal. Other signals go only to the rank itself. The
// second interrupt kills all ranks at once. An interrupt within 0.2 s of the first one is ignored,
// because timeout and Slurm send it twice.
//
// Not reentrant, because it installs signal handlers while it runs. Any thread may call it, and
// that thread must live until the call returns. No process of a rank's group survives, even if this
// process is killed. The only exception is a process that hangs in the kernel, where SIGKILL has no
// effect. Throws Error if the ranks cannot be started, for example if the program is missing. All
// ranks that were started are then stopped.
LaunchOutcome launch(const LaunchSpec& spec, Clock& clock);

}  // namespace lockstep
