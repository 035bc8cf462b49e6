// Measures the work of processes and GPUs during the observation, for the rules about load.
#pragma once

#include <string>
#include <vector>

#include "tools/doctor/evidence/scene.h"

namespace lockstep::rules {

// limit of SM activity in percent; a GPU below it mostly waits
constexpr double working_percent = 10;
constexpr double one_core = 0.9;  // limit in cores; a thread above it runs nearly all the time

struct ThreadLine {
  std::string text;  // a line of evidence; "" if no thread was observed
  double cores = 0;
};
// Returns the thread of the process with the highest load.
ThreadLine busiest_thread(const Scene& scene, int pid);

// Data loaders: processes of the program that read its input.
struct Loaders {
  std::vector<int> pids;
  int full = 0;  // number of loaders that use a whole core or wait for disks
  double cores = 0, read_bytes_per_s = 0;
};
// Returns the loaders that the process `user` started, and those that cannot be assigned to a
// process on a GPU.
Loaders loaders_of(const Scene& scene, const Program& program, int user);

// WORLD_SIZE in the environment of the process; 0 if unset
int world_size(const Scene& scene, int pid);

// Whether the thread that keeps the GPU waiting launches few kernels. If true, the thread mostly
// does other work, and the few kernels fill the GPU. If false, the thread launches many kernels
// that are too small. In that case, a kernel runs most of the time, but on few multiprocessors.
bool launches_little(const GpuView& gpu);
// Whether the process computes as if it had only one thread. Either one thread runs nearly all the
// time, or all threads together use about one core. Two threads may then take turns, as in
// PyTorch's forward and backward.
bool one_at_a_time(const ProcessView& process);

bool is_enough(const Load& load);  // whether it has enough samples to judge how its values vary
// Whether work alternates with waiting: some values are high, and some are near zero.
bool is_sawtooth(const Load& load);

}  // namespace lockstep::rules
