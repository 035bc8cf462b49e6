// What follows from the evidence before any rule is asked: loads over the time of the look, which
// process is on which GPU, which GPUs it may see, which processes make one program.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "doctor/evidence.h"

namespace lockstep {

// Of one metric over the samples; only readings that were measured, each once.
struct Load {
  std::vector<double> values;
  bool unsupported = false;
  bool known() const { return !values.empty(); }
  double mean() const;  // 0 if not known, as least and most
  double least() const;
  double most() const;
  std::string mean_text(int digits = 0) const;  // "n/a" if not known
  std::string most_text(int digits = 0) const;
  // Of the values, the share in [from, to).
  double share(double from, double to) const;
};

struct GpuView {
  std::size_t position = 0;  // in Evidence::gpus
  int index = 0;             // NVML's
  std::array<Load, metric_count> loads;
  std::set<int> pids;       // that compute on it by NVML, in any sample
  std::set<int> drawing;    // that only draw
  bool pids_known = false;  // whether NVML says
  std::string fault;
  const Load& operator[](GpuMetric metric) const { return loads[static_cast<std::size_t>(metric)]; }
  // SM activity, or without it the share of time with some kernel.
  const Load& activity() const;
  bool has_sm() const { return (*this)[GpuMetric::sm_active].known(); }
  bool is_idle() const;  // measured, and nothing ran
};

struct ThreadLoad {
  std::string name;
  double cores = 0;  // 1: it ran all the time
  bool is_main = false;
};

struct ProcessView {
  const ProcessEvidence* now = nullptr;  // in the newest snapshot that has it
  bool watched =
      false;         // there at the begin and the end of the look: only then what follows is known
  double cores = 0;  // that its threads used together
  double io_share = 0;  // of the time it waited for block devices
  double read_bytes_per_s = 0;
  std::vector<ThreadLoad> busiest;              // most first
  std::map<std::size_t, std::uint64_t> memory;  // bytes by position of each GPU that it has a
                                                // context on; 0: not known
  std::map<std::size_t, double> sm;  // mean SM percent of the process there, where NVML says
  // Positions in CUDA's order that its environment at exec leaves it; nothing: cannot be known.
  std::optional<std::vector<std::size_t>> visible;
  std::string why_not_visible;  // what was not known
  // The same by the environment alone, though it is on a GPU that this hides.
  std::optional<std::vector<std::size_t>> allowed;
  std::optional<std::string> variable(const std::string& name) const;
  // As variable(), of `inherits`: for what all of a program's processes have alike.
  std::optional<std::string> inherited(const std::string& name) const;
  // Whose environment at exec was its own too: itself, or where it has overwritten that, the
  // nearest parent with one; null where it cannot be read.
  const ProcessEvidence* inherits = nullptr;
  bool has_library(const std::string& beginning) const;
  // By a signal of job control; a debugger stops for a moment only, and shows as another state.
  bool is_stopped() const { return watched && now->state == 'T' && cores < 0.01; }
  bool computes() const;  // maps a library that can compute on GPUs, or is on one
};

// Processes that belong together: a program with its children, or ranks side by side.
struct Program {
  int root = 0;            // the pid that the others descend from, or the lowest
  std::vector<int> pids;   // ascending
  std::vector<int> users;  // of them, those on a GPU
};

struct Scene {
  const Evidence* evidence = nullptr;
  double time_s = 0;  // that was looked at
  double at_s = 0;    // its end, on the monotonic clock
  std::vector<GpuView> gpus;
  std::map<int, ProcessView> processes;
  std::vector<Program> programs;
  std::map<int, int> parents;  // as ProcessSnapshot::parents
  // NVML named processes that are not here: of another PID namespace, or ended.
  std::set<int> strangers;
  // Whether NVML says of every GPU that answers who is on it, in numbers of this PID namespace.
  bool contexts_known = false;
  bool names_nobody = false;  // no process that is here, though some have CUDA open

  // Processes here of which it only follows that they are those on the GPUs, because no others have
  // CUDA open: with the number of the host by which NVML names them, or 0 where it names none.
  std::map<int, int> inferred;

  // The process here that NVML means by a number; nothing for strangers.
  std::optional<int> process_named(int number) const;
  const Program& program_of(int pid) const;
  // Whether any process of another program is on it.
  bool is_shared(std::size_t position, const Program& program) const;
  std::string gpu_name(std::size_t position) const;  // "GPU 1"
};

// evidence must outlive the scene.
Scene make_scene(const Evidence& evidence);

}  // namespace lockstep
