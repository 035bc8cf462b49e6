// Work of processes and GPUs during the look, for the rules about load.
#pragma once

#include <string>
#include <vector>

#include "tools/doctor/evidence/scene.h"

namespace lockstep::rules {

constexpr double working_percent = 10;  // of SM activity: a GPU with less mostly waits
constexpr double one_core = 0.9;        // a thread with more runs nearly all the time

struct ThreadLine {
  std::string text;  // a line of evidence; "" if no thread was watched
  double cores = 0;
};
// The busiest thread.
ThreadLine busiest_thread(const Scene& scene, int pid);

// Processes of the program that read its input.
struct Loaders {
  std::vector<int> pids;
  int full = 0;  // using a whole core, or waiting for disks
  double cores = 0, read_bytes_per_s = 0;
};
// The loaders that `user` started, and those that cannot be assigned to one process.
Loaders loaders_of(const Scene& scene, const Program& program, int user);

int world_size(const Scene& scene, int pid);  // the number of ranks of a program, as it states it

// There are two reasons why one thread at its limit keeps a GPU waiting. False: the thread launches
// kernels that are too small. Some kernel then runs much of the time, on few multiprocessors. True:
// it does other work, and the few kernels that run fill the GPU.
bool launches_little(const GpuView& gpu);
// Whether two threads take turns, as in PyTorch's forward and backward.
bool one_at_a_time(const ProcessView& process);

bool is_enough(const Load& load);    // has enough samples to judge how its values vary
bool is_sawtooth(const Load& load);  // work alternates with waiting: some high values, some near
                                     // zero

}  // namespace lockstep::rules
