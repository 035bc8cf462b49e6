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

// Exit codes of Lockstep's programs, documented in docs/guide.
enum ExitCode {
  exit_finished = 0,
  exit_failed = 1,
  exit_usage = 2,
  exit_skipped = 3,     // a job of a batch had nothing to do, and reported why
  exit_unexpected = 4,  // a batch finished, but a result differs from --expect
  exit_stopped = 75,
  exit_interrupted = 130
};

struct LaunchSpec {
  std::vector<std::string> argv;                   // the same for every rank
  std::vector<Device> devices;                     // one per rank
  std::map<std::string, std::string> environment;  // added to the inherited variables
  // The folder of the logs; created if it is missing. The stdout and stderr of rank N are appended
  // to rankN.log in it.
  std::filesystem::path log_dir;
  // A line that separates this output in the logs from the output of an earlier launch; may be
  // empty.
  std::string log_mark;
  // The size limit of each log (rank_log.h); 0 = no limit.
  std::uint64_t log_limit_bytes = std::uint64_t{64} << 20;

  // Whether the launcher serves the key-value store through which Lockstep's workers find each
  // other (store_server.h). LOCKSTEP_STORE_FD gives each rank access to the store. Other programs
  // meet at MASTER_PORT, on which one of the ranks must listen.
  bool serves_store = true;
  // For other programs (`lockstep launch`): whether the ranks' output is also shown on the
  // launcher's stdout and stderr (rank_screen.h). If these are a terminal, rank 0 gets a
  // pseudo-terminal, and the logs have lines without escape sequences (PlainLines). If the reader
  // of the launcher's output stalls, only ranks that print have to wait.
  bool forward_output = false;
  // true: rank 0 reads the launcher's standard input; false: no rank does
  bool gives_input = false;
  // If true, each rank sees only its own GPU, as cuda:0. If false, each rank sees all GPUs of the
  // run in rank order, so LOCAL_RANK is the index of its GPU. torchrun does the latter, and most
  // Python programs expect it.
  bool one_gpu_visible = true;
  // If one_gpu_visible is false: the names of the ranks' GPUs for CUDA_VISIBLE_DEVICES, in rank
  // order. If empty, UUIDs are used.
  std::vector<std::string> gpu_names;
  // The value of TORCHELASTIC_RUN_ID, the same on all ranks and after each restart. If it is not
  // empty, the ranks also get the other variables that torchrun sets, such as
  // TORCHELASTIC_RESTART_COUNT. If it is empty, they do not.
  std::string run_id;
  int restart = 0, most_restarts = 0;
  // true: ranks get SIGHUP unchanged; false: they get SIGTERM instead, which more programs handle
  bool knows_hangup = false;
  // this rank writes to the launcher's own stdout instead of a pipe (predict); -1 = none
  int pass_stdout_rank = -1;

  // Receives the JSON objects that rank 0 writes to its LOCKSTEP_EVENTS_FD, one per line. Every
  // rank has such a descriptor, and reports on it why it fails (rank_error.h). If on_event is
  // empty, the variable is not set.
  std::function<void(const nlohmann::json&)> on_event;
  // Called with the number of each signal that is passed on to the ranks.
  std::function<void(int)> on_signal;
  double grace_s = 5;  // after a rank failed, seconds from SIGTERM to SIGKILL for the other ranks
  // a rank that reports nothing for this long hangs (hang_watch.h); 0 = off
  double hang_after_s = 0;
  // Returns the time that ranks get to save a checkpoint after the first interrupt. It is called
  // when that interrupt comes. After this time, ranks get SIGTERM. After another grace_s seconds,
  // they get SIGKILL.
  std::function<double()> stop_grace_s = [] { return 60.0; };
};

struct Finished {};  // every rank exited with 0
// At least one rank exited with exit_stopped, and the others with exit_stopped or 0. In programs
// other than Lockstep's workers, exit_stopped is a failure unless a signal was passed on to the
// ranks.
struct Stopped {
  std::string why;  // the signal that was passed on, "SIGINT"; empty if there was none
};
struct RankFailed {
  int rank = -1;
  std::string device;  // "cuda:1 (NVIDIA T4)"
  std::string how;     // "exit code 1", "killed by signal 9 (Killed)", "hangs: …"
  // where: the state in which the rank failed, "in backward of step 12". others: the state of the
  // other ranks, "; rank 0 waits in all-reduce 57 of step 12". Empty for ranks without heartbeats
  // (heartbeat.h).
  std::string where, others;
  std::string memory;  // how the kernel's counters explain a kill (memory_kills.h); may be empty
  std::optional<RankError> error;  // the rank's own report of its error; nothing if it made none
  int exit_code = 1;               // the rank's exit code; 128 + signal if it was killed
  std::string last_lines;          // the last lines of its output, at most 20
  std::filesystem::path log;
};
// The run was interrupted, in one of three ways. A second interrupt came, the ranks did not stop
// within stop_grace_s, or a signal that was passed on ended a rank.
struct Interrupted {
  std::string why;  // "a second interrupt (SIGINT)"
};
using LaunchOutcome = std::variant<Finished, Stopped, RankFailed, Interrupted>;

// Starts the ranks, and returns when all of them have ended.
//
// Each rank gets these environment variables:
// - RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, GROUP_RANK, MASTER_ADDR and MASTER_PORT.
// - If the devices are GPUs: CUDA_VISIBLE_DEVICES (see one_gpu_visible) and CUDA_DEVICE_ORDER =
//   PCI_BUS_ID. Also NCCL_SOCKET_IFNAME = lo, unless the user set it.
// - If the devices are CPU ranks: an empty CUDA_VISIBLE_DEVICES. Also OMP_WAIT_POLICY = PASSIVE,
//   unless the user set that variable or GOMP_SPINCOUNT.
// - If the devices are CPU ranks, or if run_id is set: OMP_NUM_THREADS = device.threads, unless the
//   user set it.
//
// Inherited variables of outer launchers, such as TORCHELASTIC_…, are removed.
//
// Each rank leads its own process group, with PR_SET_PDEATHSIG = SIGKILL. An interrupt is SIGINT,
// SIGTERM or SIGHUP. The first interrupt is passed on to every rank, and so is the first SIGUSR1.
// SIGINT goes to the whole group of a rank, as from a terminal. Other signals go only to the rank
// itself. The second interrupt kills all ranks at once. An interrupt within 0.2 s of the first one
// is ignored, because timeout(1) and Slurm send signals twice.
//
// Only one call may run at a time, because the call installs signal handlers. Any thread may make
// it, and that thread must live until the call returns. No process of a rank's group survives, even
// if this process is killed. The only exception is a process that hangs in the kernel, where
// SIGKILL has no effect. Throws Error if the ranks cannot be started, for example because the
// program is missing. All ranks that were already started are then stopped.
LaunchOutcome launch(const LaunchSpec& spec, Clock& clock);

}  // namespace lockstep
