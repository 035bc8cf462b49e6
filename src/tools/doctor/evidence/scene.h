// Derives the facts that the doctor's rules need from the evidence. These facts are the loads
// during the observation, the processes on each GPU and the GPUs that each process may see. They
// also include the processes that form one program.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/doctor/evidence/evidence.h"

namespace lockstep {

// The values of one metric over the samples. Only measured readings are in it, each once.
struct Load {
  std::vector<double> values;
  bool unsupported = false;
  bool known() const { return !values.empty(); }
  double mean() const;  // mean(), least() and most() are 0 if unknown
  double least() const;
  double most() const;
  std::string mean_text(int digits = 0) const;  // "n/a" if unknown
  std::string most_text(int digits = 0) const;
  // Returns the share of values in [from, to).
  double share(double from, double to) const;
};

struct GpuView {
  std::size_t position = 0;  // index in Evidence::gpus
  int index = 0;             // the index in NVML
  std::array<Load, metric_count> loads;
  std::set<int> pids;       // processes that NVML lists as computing on it, in any sample
  std::set<int> drawing;    // processes that NVML lists as graphics processes
  bool pids_known = false;  // whether NVML lists the processes
  std::string fault;
  const Load& operator[](GpuMetric metric) const { return loads[static_cast<std::size_t>(metric)]; }
  // Returns SM activity. If it is unknown, returns the share of time in which any kernel ran
  // (NVML's busy %).
  const Load& activity() const;
  bool has_sm() const { return (*this)[GpuMetric::sm_active].known(); }
  bool is_idle() const;  // whether activity was measured and was about 0
};

struct ThreadLoad {
  std::string name;
  double cores = 0;  // used CPU cores; 1 if the thread ran all the time
  bool is_main = false;
};

struct ProcessView {
  const ProcessEvidence* now = nullptr;  // the process in the newest snapshot that has it
  // Whether the process was present at the beginning and at the end of the observation. If it was
  // not, the values below are unknown.
  bool watched = false;
  double cores = 0;     // CPU cores that all its threads used together
  double io_share = 0;  // share of the time in which it waited for block devices
  double read_bytes_per_s = 0;
  std::vector<ThreadLoad> busiest;  // the busiest threads, the highest load first
  // Bytes on each GPU where it has a CUDA context. The key is the position of the GPU; 0 bytes
  // means unknown.
  std::map<std::size_t, std::uint64_t> memory;
  // mean SM utilisation of the process by position, in percent, if NVML reports it
  std::map<std::size_t, double> sm;
  // Positions of the GPUs that its environment at exec makes visible, in CUDA's order. Not set if
  // unknown.
  std::optional<std::vector<std::size_t>> visible;
  std::string why_not_visible;  // reason if `visible` is unknown
  // Like `visible`, but derived only from the environment. It is also set if the process is on a
  // GPU that the environment hides.
  std::optional<std::vector<std::size_t>> allowed;
  std::optional<std::string> variable(const std::string& name) const;
  // Returns a variable of the environment of `inherits`. Use it for variables that all processes of
  // a program share.
  std::optional<std::string> inherited(const std::string& name) const;
  // The process whose environment at exec is used for this one. It is this process, if its
  // environment can be read. If this process has overwritten its environment, it is the nearest
  // ancestor with a readable environment. Null if no environment can be read.
  const ProcessEvidence* inherits = nullptr;
  bool has_library(const std::string& beginning) const;
  // Whether job control has stopped the process. A process under a debugger has another state.
  bool is_stopped() const { return watched && now->state == 'T' && cores < 0.01; }
  bool computes() const;  // whether it maps a library that can compute on GPUs, or is on a GPU
};

// Processes that belong together: a program with its descendants, or sibling ranks.
struct Program {
  int root = 0;            // pid of the common ancestor; without one, the lowest pid
  std::vector<int> pids;   // in ascending order
  std::vector<int> users;  // the processes in `pids` that are on a GPU
};

struct Scene {
  const Evidence* evidence = nullptr;
  double time_s = 0;  // duration of the observation
  double at_s = 0;    // end of the observation, on the monotonic clock
  std::vector<GpuView> gpus;
  std::map<int, ProcessView> processes;
  std::vector<Program> programs;
  std::map<int, int> parents;  // as ProcessSnapshot::parents
  // Process numbers from NVML that no process of this PID namespace has. These processes have
  // ended, or are in another PID namespace.
  std::set<int> strangers;
  // Whether NVML lists the processes of all GPUs that answer, with numbers of this PID namespace.
  bool contexts_known = false;
  // whether NVML lists no process of this namespace, although some have started CUDA
  bool names_nobody = false;

  // Processes that are inferred to be on the GPUs, because no other processes here have CUDA open.
  // The key is the pid. The value is the host's number of the process, as NVML lists it. It is 0 if
  // NVML lists no process.
  std::map<int, int> inferred;

  // Returns the process of this PID namespace to which a number from NVML belongs. Returns nothing
  // if `processes` has no such process.
  std::optional<int> process_named(int number) const;
  const Program& program_of(int pid) const;
  // Whether a process of another program than `program` is on the GPU.
  bool is_shared(std::size_t position, const Program& program) const;
  std::string gpu_name(std::size_t position) const;  // "GPU 1"
};

// Derives the scene. evidence must outlive it.
Scene make_scene(const Evidence& evidence);

}  // namespace lockstep
