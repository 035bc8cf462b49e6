// Starts one child process per rank, watches them, and brings all down when one fails.
#pragma once

#include "base/clock.h"
#include "base/fd.h"
#include "devices/device.h"
#include "launch/rank_error.h"

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

// How a user's program ends: documented in docs/guide.
enum ExitCode {
  exit_finished = 0,
  exit_failed = 1,
  exit_usage = 2,
  exit_skipped = 3,     // a job that had nothing to do, and said why
  exit_unexpected = 4,  // a batch that is over, but not as --expect says
  exit_stopped = 75,
  exit_interrupted = 130
};

struct LaunchSpec {
  std::vector<std::string> argv;                   // the same for every rank
  std::vector<Device> devices;                     // one per rank
  std::map<std::string, std::string> environment;  // added to the inherited one
  // Made if absent; stdout and stderr are appended to rankN.log in it.
  std::filesystem::path log_dir;
  std::uint64_t log_limit_bytes = std::uint64_t{64} << 20;  // of each (rank_log.h); 0: none

  // Serve the store in which Lockstep's workers meet, and hand each rank the way to it in
  // LOCKSTEP_STORE_FD (store_server.h). Programs of others meet at MASTER_PORT, where nobody
  // listens until they do.
  bool serves_store = true;
  // For programs of others (launch command): what ranks write is shown on our stdout and stderr too
  // (rank_screen.h), where rank 0 finds a terminal if ours is one, and the logs are plain
  // (PlainLines). A reader who stalls holds up the ranks that print, and nothing else.
  bool forward_output = false;
  bool gives_input = false;  // rank 0 reads our standard input; false: nobody does
  // Each rank sees its GPU alone, as cuda:0; false: all of the run's, in rank order, so that
  // LOCAL_RANK is the device (torchrun's way, which most Python programs expect).
  bool one_gpu_visible = true;
  // By rank, how CUDA_VISIBLE_DEVICES names its GPU then; empty: by UUID.
  std::vector<std::string> gpu_names;
  // torchrun's id of the run, the same on all ranks and in each restart, with which come all other
  // variables that torchrun sets; empty: none of them.
  std::string run_id;
  int restart = 0, most_restarts = 0;
  bool knows_hangup = false;  // ranks get SIGHUP as it is; false: as SIGTERM, which all know
  int pass_stdout_rank = -1;  // this rank inherits our stdout instead (predict)

  // Takes the JSON objects that rank 0 writes to LOCKSTEP_EVENTS_FD, one per line. Each rank has
  // one, and says there why it fails (rank_error.h). None: the variable is not set.
  std::function<void(const nlohmann::json&)> on_event;
  // Called with the number of each signal that is passed on.
  std::function<void(int)> on_signal;
  double grace_s = 5;       // from SIGTERM after the first failure to SIGKILL
  double hang_after_s = 0;  // a rank that shows no sign of life for so long hangs; 0: never
  // From the first interrupt, for a checkpoint; asked when it comes. Then SIGTERM again, and
  // grace_s later SIGKILL.
  std::function<double()> stop_grace_s = [] { return 60.0; };
};

struct Finished {};  // every rank exited 0
// At least one rank exited with exit_stopped, the others with it or 0. Of programs other than
// Lockstep's workers that means so only if a signal asked for it.
struct Stopped {
  std::string why;  // "SIGINT", or "" if no signal asked for it
};
struct RankFailed {
  int rank = -1;
  std::string device;  // "cuda:1 (NVIDIA T4)"
  std::string how;     // "exit code 1", "killed by signal 9 (Killed)", "hangs: …"
  // Of ranks that say what they do (heartbeat.h): "in backward of step 12", and what the others
  // did: "; rank 0 waits in all-reduce 57 of step 12".
  std::string where, others;
  std::string memory;  // what the kernel's counters say of a kill (memory_kills.h); or ""
  std::optional<RankError> error;  // what the rank itself said
  int exit_code = 1;               // of the rank, 128 + signal when killed
  std::string last_lines;          // of what it printed, at most 20
  std::filesystem::path log;
};
// A second interrupt, or grace over, or ended by the signal passed on.
struct Interrupted {
  std::string why;  // "a second interrupt (SIGINT)"
};
using LaunchOutcome = std::variant<Finished, Stopped, RankFailed, Interrupted>;

// Runs to the end. Ranks get RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR,
// MASTER_PORT, GROUP_RANK, no TORCHELASTIC_… but those of run_id; on GPUs CUDA_VISIBLE_DEVICES =
// the device's UUID and CUDA_DEVICE_ORDER = PCI_BUS_ID (so every rank's device is cuda:0),
// NCCL_SOCKET_IFNAME=lo unless the user set it; on CPU CUDA_VISIBLE_DEVICES empty. On CPU and with
// run_id OMP_NUM_THREADS = device.threads unless the user set it; on CPU OMP_WAIT_POLICY=PASSIVE,
// likewise. Each rank is its own process group with PR_SET_PDEATHSIG = SIGKILL. The first interrupt
// (SIGINT, SIGTERM or SIGHUP) is passed on to every rank once, and so is the first SIGUSR1; SIGINT
// to the rank's whole group, as a terminal does, the others to the rank itself. The second
// interrupt kills all at once (one within 0.2 s of the first is its echo: timeout and Slurm send it
// twice). Not reentrant: installs signal handlers while it runs, on any thread; that thread must
// stay until the end. However a run ends, no process of a rank's group survives, even if this
// process is killed. Throws Error if nothing could be started (program absent, …), with every
// started rank stopped.
LaunchOutcome launch(const LaunchSpec& spec, Clock& clock);

}  // namespace lockstep
