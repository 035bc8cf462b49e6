// Runs similar tasks on all cores, with bounded memory.
#pragma once

#include <cstddef>
#include <functional>

namespace lockstep::volume {

struct ParallelWork {
  std::size_t count = 0;
  // Returns the approximate memory that task i needs, in bytes. The function is called on the
  // thread of the task before the task begins. If the function is empty, memory is not limited.
  std::function<double(std::size_t)> bytes{};
  std::function<void(std::size_t)> run;  // runs task i; called from several threads at once
  // Receives the number of finished tasks. The function is called from time to time on the thread
  // of run_parallel.
  std::function<void(std::size_t)> progress{};
};

// Runs the tasks on `threads` threads, and begins them in order. A task waits until the running
// tasks leave enough of `most_bytes` for it. A task that needs more than `most_bytes` waits until
// no other task holds memory. If a task fails, no further task begins. When the running tasks have
// ended, the exception of the failed task with the lowest index is thrown.
void run_parallel(const ParallelWork& work, std::size_t threads, double most_bytes);
// Does the same on all cores of this process, with a quarter of the memory that the process may
// use.
void run_parallel(const ParallelWork& work);

}  // namespace lockstep::volume
