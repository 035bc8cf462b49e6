// What processes and GPUs did over the look, as the rules on load ask for it.
#pragma once

#include <string>
#include <vector>

#include "doctor/scene.h"

namespace lockstep::rules {

constexpr double working_percent = 10;  // of SM activity: less is a GPU that mostly waits
constexpr double one_core = 0.9;        // a thread that runs nearly all the time

struct ThreadLine {
  std::string text;  // of evidence; "" if no thread was watched
  double cores = 0;
};
// The thread that works most.
ThreadLine busiest_thread(const Scene& scene, int pid);

// Processes of the program that read its input.
struct Loaders {
  std::vector<int> pids;
  int full = 0;  // at a whole core, or waiting for disks
  double cores = 0, read_bytes_per_s = 0;
};
// Those that a process started, and those that belong to nobody in particular.
Loaders loaders_of(const Scene& scene, const Program& program, int user);

int world_size(const Scene& scene, int pid);  // the ranks of a program, by its own word

// Of the two reasons why one thread at its limit keeps a GPU waiting: it launches kernels that are
// too small, so that some runs much of the time on next to no multiprocessors, or it does something
// else, and what little runs fills the GPU. True: the second.
bool launches_little(const GpuView& gpu);
// Where PyTorch computes forward and backward, two threads take turns.
bool one_at_a_time(const ProcessView& process);

bool is_enough(const Load& load);    // seen over enough samples to speak of a shape
bool is_sawtooth(const Load& load);  // work alternates with waiting: some high, some next to none

}  // namespace lockstep::rules
