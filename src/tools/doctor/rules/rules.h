// The rules, grouped by topic, and their common functions.
#pragma once

#include <utility>

#include "tools/doctor/finding.h"
#include "tools/doctor/launcher.h"

namespace lockstep::rules {

// GPUs that a program could use but does not (unused.cpp).
Findings one_of_several(const Scene& scene);
Findings narrowed(const Scene& scene);
// The placement of processes on GPUs (placement.cpp).
Findings same_gpu(const Scene& scene);
Findings ranks_on_one(const Scene& scene);
Findings stray_context(const Scene& scene);
Findings other_order(const Scene& scene);
Findings exclusive(const Scene& scene);
Findings no_gpu_use(const Scene& scene);
// How well processes use their GPUs (load.cpp).
Findings too_small(const Scene& scene);
Findings waiting_for_others(const Scene& scene);
Findings one_process_many(const Scene& scene);
Findings starving(const Scene& scene);  // (starving.cpp)
// The GPUs themselves (health.cpp).
Findings held_back(const Scene& scene);
Findings lost(const Scene& scene);
Findings faulty(const Scene& scene);
Findings other_tenant(const Scene& scene);
Findings kept_memory(const Scene& scene);
Findings cannot_open(const Scene& scene);

// Positions of the GPUs that the program may use, by the environment of its processes on GPUs, or
// of all its processes if none is on one. Nothing if they are unknown for any of them.
std::optional<std::set<std::size_t>> visible_to(const Scene& scene, const Program& program);
// Positions of the GPUs where it has contexts.
std::set<std::size_t> used_by(const Scene& scene, const Program& program);
std::set<std::size_t> all_of(const Scene& scene);
std::set<std::size_t> without(std::set<std::size_t> some, const std::set<std::size_t>& others);
// Those of `positions` that anybody could use: nothing ran there, only `own` processes are on them,
// no invisible process holds memory, and they can be opened.
std::set<std::size_t> idle_of(const Scene& scene, const std::set<std::size_t>& positions,
                              const std::vector<int>& own);
// Whether the process was seen computing there.
bool computes_on(const Scene& scene, const Program& program, int pid, std::size_t position);
// Whether all its processes on GPUs are stopped. It would then not use other GPUs either.
bool is_stopped(const Scene& scene, const Program& program);
// A process of the program whose command line states the number of GPUs, with its pid. If there are
// several, it is the one nearest to the processes on GPUs. Nothing if there is none.
std::optional<std::pair<int, Launcher>> launcher_in(const Scene& scene, const Program& program);
// "GPU 1", "GPUs 1, 2, 3"
std::string names(const Scene& scene, const std::set<std::size_t>& positions);
// "GPU 1 idles", "GPUs 1, 2 idle"
std::string idling(const Scene& scene, const std::set<std::size_t>& positions);
std::vector<int> indexes(const Scene& scene, const std::set<std::size_t>& positions);
// "pid 123 (python train.py)"
std::string describe(const Scene& scene, int pid);
// "GPU 1: SM activity 0 % (0 to 0), busy 0 %, 78 W"
std::string load_line(const Scene& scene, std::size_t position);
// The place of a process, for people: "NVML: pid 123 has a context on GPU 0 (512 MiB)".
std::string context_line(const Scene& scene, int pid, std::size_t position);
// "environment at exec: CUDA_VISIBLE_DEVICES=0"
std::string variable_line(const Scene& scene, int pid, const std::string& name);
// Those of these variables that are set for one process, in a line: "/proc/9/environ: RANK=0,
// WORLD_SIZE=1"; "" if none is set.
std::string variables_line(const Scene& scene, int pid, const std::vector<std::string>& names);
std::string command_line(const Scene& scene, int pid);  // "/proc/9/cmdline: python3 train.py"
// A library for decision trees, with the parameter for the GPU that trains a model.
struct TreeLibrary {
  const char *name, *file, *parameter;  // "LightGBM", "lib_lightgbm", "gpu_device_id=0"
};
const TreeLibrary* tree_library(const ProcessView& process);  // null if the process maps none
// How to run one process per GPU with the libraries that the process uses.
std::vector<std::string> one_process_a_gpu(const Scene& scene, int pid, std::size_t gpus);
// The next lower confidence, for a rule that has to judge without SM activity.
Confidence lowered(Confidence confidence);

}  // namespace lockstep::rules
