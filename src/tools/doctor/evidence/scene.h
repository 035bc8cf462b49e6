// Derived facts that the rules need: loads during the look, the processes on each GPU, the GPUs
// each may see, and the processes that form one program.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/doctor/evidence/evidence.h"

namespace lockstep {

// One metric over the samples: measured readings only, each once.
struct Load {
  std::vector<double> values;
  bool unsupported = false;
  bool known() const { return !values.empty(); }
  double mean() const;  // 0 if unknown, like least and most
  double least() const;
  double most() const;
  std::string mean_text(int digits = 0) const;  // "n/a" if unknown
  std::string most_text(int digits = 0) const;
  // The share of values in [from, to).
  double share(double from, double to) const;
};

struct GpuView {
  std::size_t position = 0;  // in Evidence::gpus
  int index = 0;             // the index in NVML
  std::array<Load, metric_count> loads;
  std::set<int> pids;       // processes that compute on it according to NVML, in any sample
  std::set<int> drawing;    // processes that only draw
  bool pids_known = false;  // whether NVML reports the processes
  std::string fault;
  const Load& operator[](GpuMetric metric) const { return loads[static_cast<std::size_t>(metric)]; }
  // SM activity, or without it the share of time in which some kernel ran.
  const Load& activity() const;
  bool has_sm() const { return (*this)[GpuMetric::sm_active].known(); }
  bool is_idle() const;  // measured, and nothing ran
};

struct ThreadLoad {
  std::string name;
  double cores = 0;  // used CPU cores; 1: it ran all the time
  bool is_main = false;
};

struct ProcessView {
  const ProcessEvidence* now = nullptr;  // in the newest snapshot that has the process
  bool watched = false;  // present at the begin and the end of the look; otherwise the values below
                         // are unknown
  double cores = 0;      // used by all its threads together
  double io_share = 0;   // share of the time spent waiting for block devices
  double read_bytes_per_s = 0;
  std::vector<ThreadLoad> busiest;              // most first
  std::map<std::size_t, std::uint64_t> memory;  // bytes by position of each GPU where it has a
                                                // context; 0: unknown
  std::map<std::size_t, double> sm;  // mean SM percent of the process there, if NVML reports it
  // Positions, in CUDA's order, of the GPUs that its environment at exec makes visible. Nothing:
  // unknown.
  std::optional<std::vector<std::size_t>> visible;
  std::string why_not_visible;  // the fact that is missing if `visible` is unknown
  // The same, derived only from the environment, even if the process is on a GPU that this hides.
  std::optional<std::vector<std::size_t>> allowed;
  std::optional<std::string> variable(const std::string& name) const;
  // A variable of the environment of `inherits`, for variables that all processes of a program
  // share.
  std::optional<std::string> inherited(const std::string& name) const;
  // The process whose environment at exec applies: this one, or the nearest parent with a readable
  // one if this one has overwritten its own. Null if it cannot be read.
  const ProcessEvidence* inherits = nullptr;
  bool has_library(const std::string& beginning) const;
  // Stopped by job control. A debugger stops a process only for a moment, and shows as another
  // state.
  bool is_stopped() const { return watched && now->state == 'T' && cores < 0.01; }
  bool computes() const;  // maps a library that can compute on GPUs, or is on one
};

// Processes that belong together: a program with its children, or sibling ranks.
struct Program {
  int root = 0;            // the common ancestor's pid, or the lowest
  std::vector<int> pids;   // ascending
  std::vector<int> users;  // those of pids that are on a GPU
};

struct Scene {
  const Evidence* evidence = nullptr;
  double time_s = 0;  // duration of the look
  double at_s = 0;    // its end, on the monotonic clock
  std::vector<GpuView> gpus;
  std::map<int, ProcessView> processes;
  std::vector<Program> programs;
  std::map<int, int> parents;  // as ProcessSnapshot::parents
  // Processes that NVML names and that are not here: they ended, or are in another PID namespace.
  std::set<int> strangers;
  // Whether NVML names the processes of every answering GPU, in numbers of this PID namespace.
  bool contexts_known = false;
  bool names_nobody = false;  // NVML names no process that is here, though some have started CUDA

  // Processes inferred to be those on the GPUs, because no others here have CUDA open. The value is
  // the host's number by which NVML names them, or 0 if it names none.
  std::map<int, int> inferred;

  // The process here that NVML means by a number; nothing for strangers.
  std::optional<int> process_named(int number) const;
  const Program& program_of(int pid) const;
  // Whether a process of another program is on the GPU.
  bool is_shared(std::size_t position, const Program& program) const;
  std::string gpu_name(std::size_t position) const;  // "GPU 1"
};

// evidence must outlive the scene.
Scene make_scene(const Evidence& evidence);

}  // namespace lockstep
