// The rules by what they look at, and what they share.
#pragma once

#include <utility>

#include "doctor/finding.h"
#include "doctor/launcher.h"

namespace lockstep::rules {

// GPUs that a program could use and does not (unused.cpp).
Findings one_of_several(const Scene& scene);
Findings narrowed(const Scene& scene);
// Which process is on which GPU (placement.cpp).
Findings same_gpu(const Scene& scene);
Findings ranks_on_one(const Scene& scene);
Findings stray_context(const Scene& scene);
Findings other_order(const Scene& scene);
Findings exclusive(const Scene& scene);
Findings no_gpu_use(const Scene& scene);
// What the processes make of their GPUs (load.cpp).
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

// Positions that the program may use, by the environment of its processes on GPUs, or of all where
// none is on one; nothing where that is not known for any of them.
std::optional<std::set<std::size_t>> visible_to(const Scene& scene, const Program& program);
// Positions that it has contexts on.
std::set<std::size_t> used_by(const Scene& scene, const Program& program);
std::set<std::size_t> all_of(const Scene& scene);
std::set<std::size_t> without(std::set<std::size_t> some, const std::set<std::size_t>& others);
// Of them those that anybody could take: nothing ran there, nobody is on them but perhaps `own`,
// nobody unseen holds memory, and they can be opened.
std::set<std::size_t> idle_of(const Scene& scene, const std::set<std::size_t>& positions,
                              const std::vector<int>& own);
// Whether the look saw that the process computes there.
bool computes_on(const Scene& scene, const Program& program, int pid, std::size_t position);
// Its processes on GPUs, all of them: it would not use others either.
bool is_stopped(const Scene& scene, const Program& program);
// The process of the program whose command line says how many GPUs it takes, the nearest to those
// on GPUs; with its number. Nothing where none does.
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
// Where a process is, for people: "NVML: pid 123 has a context on GPU 0 (512 MiB)".
std::string context_line(const Scene& scene, int pid, std::size_t position);
// "environment at exec: CUDA_VISIBLE_DEVICES=0"
std::string variable_line(const Scene& scene, int pid, const std::string& name);
// More variables of one process in a line, those that are set: "/proc/9/environ: RANK=0,
// WORLD_SIZE=1";
// "" if none is.
std::string variables_line(const Scene& scene, int pid, const std::vector<std::string>& names);
std::string command_line(const Scene& scene, int pid);  // "/proc/9/cmdline: python3 train.py"
// Decision trees, with the parameter that says on which GPU a model is trained.
struct TreeLibrary {
  const char *name, *file, *parameter;  // "LightGBM", "lib_lightgbm", "gpu_device_id=0"
};
const TreeLibrary* tree_library(const ProcessView& process);  // null: it maps none
// How to run one process per GPU with what the process uses.
std::vector<std::string> one_process_a_gpu(const Scene& scene, int pid, std::size_t gpus);
// Without SM activity a rule knows less.
Confidence lowered(Confidence confidence);

}  // namespace lockstep::rules
