// Starts one child process per rank, watches them, and ends all when one fails.
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
  exit_skipped = 3,     // a job with nothing to do, which said why
  exit_unexpected = 4,  // a finished batch whose result differs from --expect
  exit_stopped = 75,
  exit_interrupted = 130
};

struct LaunchSpec {
  std::vector<std::string> argv;                   // the same for every rank
  std::vector<Device> devices;                     // one per rank
  std::map<std::string, std::string> environment;  // added to the inherited one
  // Created if absent; each rank's stdout and stderr are appended to its rankN.log there.
  std::filesystem::path log_dir;
  std::string log_mark;  // a line between an earlier start's output and this one's; empty: none
  std::uint64_t log_limit_bytes = std::uint64_t{64} << 20;  // limit of each log (rank_log.h); 0:
                                                            // none

  // Serves the store in which Lockstep's workers meet; each rank gets it through LOCKSTEP_STORE_FD
  // (store_server.h). Other programs meet at MASTER_PORT, where nobody listens until they do.
  bool serves_store = true;
  // For other programs (launch command): the ranks' output is also shown on our stdout and stderr
  // (rank_screen.h). Rank 0 finds a terminal if ours is one, and the logs are plain (PlainLines). A
  // stalled reader holds up only the ranks that print.
  bool forward_output = false;
  bool gives_input = false;  // rank 0 reads our standard input; false: no rank does
  // True: each rank sees only its own GPU, as cuda:0. False: each sees all GPUs of the run in rank
  // order, so that LOCAL_RANK is the device. That is torchrun's way, which most Python programs
  // expect.
  bool one_gpu_visible = true;
  // If ranks see all GPUs: the name of each rank's GPU in CUDA_VISIBLE_DEVICES. Empty: UUIDs.
  std::vector<std::string> gpu_names;
  // torchrun's run id, the same on all ranks and in each restart. Setting it also sets all other
  // variables of torchrun; empty: none of them.
  std::string run_id;
  int restart = 0, most_restarts = 0;
  bool knows_hangup = false;  // ranks get SIGHUP unchanged; false: as SIGTERM, which all programs
                              // know
  int pass_stdout_rank = -1;  // this rank inherits our stdout instead (predict)

  // Takes the JSON objects that rank 0 writes to LOCKSTEP_EVENTS_FD, one per line. Each rank has
  // this descriptor and reports there why it fails (rank_error.h). Empty: the variable is not set.
  std::function<void(const nlohmann::json&)> on_event;
  // Called with the number of each signal that is passed on to the ranks.
  std::function<void(int)> on_signal;
  double grace_s = 5;       // from SIGTERM after the first failure to SIGKILL
  double hang_after_s = 0;  // a rank without a sign of life for this long hangs; 0: never
  // Returns the time for a checkpoint after the first interrupt. Called when that interrupt comes.
  // SIGTERM follows, and SIGKILL grace_s later.
  std::function<double()> stop_grace_s = [] { return 60.0; };
};

struct Finished {};  // every rank exited 0
// At least one rank exited with exit_stopped, and the others with exit_stopped or 0. For programs
// other than Lockstep's workers this counts only if a signal asked for it.
struct Stopped {
  std::string why;  // "SIGINT", or "" if no signal asked for it
};
struct RankFailed {
  int rank = -1;
  std::string device;  // "cuda:1 (NVIDIA T4)"
  std::string how;     // "exit code 1", "killed by signal 9 (Killed)", "hangs: …"
  // For ranks with heartbeats (heartbeat.h): "in backward of step 12", and the state of the others:
  // "; rank 0 waits in all-reduce 57 of step 12".
  std::string where, others;
  std::string memory;  // how the kernel's counters explain a kill (memory_kills.h); or ""
  std::optional<RankError> error;  // the rank's own report
  int exit_code = 1;               // the rank's exit code; 128 + signal when killed
  std::string last_lines;          // the last lines of its output, at most 20
  std::filesystem::path log;
};
// A second interrupt came, or the grace time ran out, or the passed-on signal ended a rank.
struct Interrupted {
  std::string why;  // "a second interrupt (SIGINT)"
};
using LaunchOutcome = std::variant<Finished, Stopped, RankFailed, Interrupted>;

// Runs the ranks to their end.
//
// Ranks get RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT and
// GROUP_RANK. Variables TORCHELASTIC_… are removed, except those that run_id sets. On GPUs they get
// CUDA_VISIBLE_DEVICES = the device's UUID and CUDA_DEVICE_ORDER = PCI_BUS_ID, so every rank's
// device is cuda:0. NCCL_SOCKET_IFNAME is lo unless the user set it. On CPU CUDA_VISIBLE_DEVICES is
// empty, and OMP_WAIT_POLICY is PASSIVE unless the user set it. On CPU and with run_id
// OMP_NUM_THREADS is device.threads unless the user set it.
//
// Each rank is its own process group with PR_SET_PDEATHSIG = SIGKILL. The first interrupt (SIGINT,
// SIGTERM or SIGHUP) is passed on to every rank once, and so is the first SIGUSR1. SIGINT goes to
// the rank's whole group, as from a terminal; the others go to the rank itself. The second
// interrupt kills all at once. An interrupt within 0.2 s of the first does not count as the second,
// because timeout and Slurm send it twice.
//
// Not reentrant: installs signal handlers while it runs. May be called on any thread; that thread
// must stay until the end. However a run ends, no process of a rank's group survives, even if this
// process is killed. Throws Error if nothing could be started (program absent, …), with every
// started rank stopped.
LaunchOutcome launch(const LaunchSpec& spec, Clock& clock);

}  // namespace lockstep
