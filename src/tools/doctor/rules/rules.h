// Declares the doctor's rules, grouped by topic, and the functions that they share.
#pragma once

#include <utility>

#include "tools/doctor/finding.h"
#include "tools/doctor/launcher.h"

namespace lockstep::rules {

// Rules about GPUs that a program could use but does not (unused.cpp).
Findings one_of_several(const Scene& scene);
Findings narrowed(const Scene& scene);
// Rules about the placement of processes on GPUs (placement.cpp).
Findings same_gpu(const Scene& scene);
Findings ranks_on_one(const Scene& scene);
Findings stray_context(const Scene& scene);
Findings other_order(const Scene& scene);
Findings exclusive(const Scene& scene);
Findings no_gpu_use(const Scene& scene);
// Rules about how well processes use their GPUs (load.cpp).
Findings too_small(const Scene& scene);
Findings waiting_for_others(const Scene& scene);
Findings one_process_many(const Scene& scene);
Findings starving(const Scene& scene);  // in starving.cpp
// Rules about the GPUs themselves (health.cpp).
Findings held_back(const Scene& scene);
Findings lost(const Scene& scene);
Findings faulty(const Scene& scene);
Findings other_tenant(const Scene& scene);
Findings kept_memory(const Scene& scene);
Findings cannot_open(const Scene& scene);

// Returns the positions (indexes in Evidence::gpus) of the GPUs that the program may use. They
// follow from the environments of its processes on GPUs, or of all its processes if none is on a
// GPU. Processes whose visible GPUs are unknown are left out. Returns nothing if no process is
// left.
std::optional<std::set<std::size_t>> visible_to(const Scene& scene, const Program& program);
// Returns the positions of the GPUs on which the program has CUDA contexts.
std::set<std::size_t> used_by(const Scene& scene, const Program& program);
std::set<std::size_t> all_of(const Scene& scene);
std::set<std::size_t> without(std::set<std::size_t> some, const std::set<std::size_t>& others);
// Returns the GPUs among `positions` that a process could use. Nothing ran on such a GPU, and only
// processes in `own` are on it. It can be opened, and no invisible process holds memory on it.
std::set<std::size_t> idle_of(const Scene& scene, const std::set<std::size_t>& positions,
                              const std::vector<int>& own);
// Whether the process was observed computing on the GPU.
bool computes_on(const Scene& scene, const Program& program, int pid, std::size_t position);
// Whether all processes of the program on GPUs are stopped. The program would then not use other
// GPUs either.
bool is_stopped(const Scene& scene, const Program& program);
// Returns the launcher whose command line states the number of GPUs, with its pid. The search
// begins at a process of the program on a GPU and goes up through its ancestors. A known launcher
// takes precedence over a program with an option of its own. Returns nothing if no such command
// line is found.
std::optional<std::pair<int, Launcher>> launcher_in(const Scene& scene, const Program& program);
// Returns "GPU 1" or "GPUs 1, 2, 3".
std::string names(const Scene& scene, const std::set<std::size_t>& positions);
// Returns "GPU 1 idles" or "GPUs 1, 2 idle".
std::string idling(const Scene& scene, const std::set<std::size_t>& positions);
std::vector<int> indexes(const Scene& scene, const std::set<std::size_t>& positions);
// Returns "pid 123 (python train.py)".
std::string describe(const Scene& scene, int pid);
// Returns "GPU 1: SM activity 0 % (0 to 0), busy 0 %, 78 of 700 W, over 3.0 s".
std::string load_line(const Scene& scene, std::size_t position);
// Returns the place of a process as text: "NVML: pid 123 is on GPU 0 with 512 MiB".
std::string context_line(const Scene& scene, int pid, std::size_t position);
// Returns "/proc/9/environ: CUDA_VISIBLE_DEVICES=0".
std::string variable_line(const Scene& scene, int pid, const std::string& name);
// Returns a line with the variables in `names` that are set for one process: "/proc/9/environ:
// RANK=0, WORLD_SIZE=1". Returns "" if none is set.
std::string variables_line(const Scene& scene, int pid, const std::vector<std::string>& names);
std::string command_line(const Scene& scene, int pid);  // "/proc/9/cmdline: python3 train.py"
// A library for decision trees, with its parameter for the GPU that trains a model.
struct TreeLibrary {
  const char *name, *file, *parameter;  // "LightGBM", "lib_lightgbm", "gpu_device_id=0"
};
// null if the process maps no such library
const TreeLibrary* tree_library(const ProcessView& process);
// Returns advice to run one process per GPU, for the libraries that the process uses.
std::vector<std::string> one_process_a_gpu(const Scene& scene, int pid, std::size_t gpus);
// Returns the next lower confidence. It is for findings that lack measured SM activity, and for
// findings about Scene::inferred processes.
Confidence lowered(Confidence confidence);

}  // namespace lockstep::rules
