// Runs similar tasks on all cores, with bounded memory.
#pragma once

#include <cstddef>
#include <functional>

namespace lockstep::volume {

struct ParallelWork {
  std::size_t count = 0;
  // Returns the approximate memory that task i needs, in whole bytes. The function is called on the
  // task's thread before the task begins. If it is empty, memory is not limited.
  std::function<double(std::size_t)> bytes{};
  std::function<void(std::size_t)> run;  // runs task i; called from several threads at once
  // Receives the number of finished tasks. The function is called from time to time on the thread
  // of run_parallel.
  std::function<void(std::size_t)> progress{};
};

// Tasks begin in order. A task waits until the running tasks leave enough of `most_bytes` for it. A
// task that needs more than that waits until no other task holds memory. If a task fails, no
// further task begins. When the running tasks have ended, the exception of the first failed task in
// order is thrown.
void run_parallel(const ParallelWork& work, std::size_t threads, double most_bytes);
// The same, with all cores of this process, and a quarter of the memory that it may use.
void run_parallel(const ParallelWork& work);

}  // namespace lockstep::volume
