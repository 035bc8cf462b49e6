// Runs many similar tasks on all cores, in bounded memory.
#pragma once

#include <cstddef>
#include <functional>

namespace lockstep::volume {

struct ParallelWork {
  std::size_t count = 0;
  // About the memory that task i needs, in whole bytes. Called before the task begins, on its
  // thread. Empty: memory is not limited.
  std::function<double(std::size_t)> bytes{};
  std::function<void(std::size_t)> run;  // called on any thread, several at once
  // Called from time to time on the calling thread, with the number of finished tasks.
  std::function<void(std::size_t)> progress{};
};

// Tasks begin in order. After one has failed, no other begins. Once the running tasks have ended,
// the error of the failed task that is first in order is thrown. A task that needs more than
// `most_bytes` runs alone.
void run_parallel(const ParallelWork& work, std::size_t threads, double most_bytes);
// Uses the cores and a quarter of the memory that this process may use.
void run_parallel(const ParallelWork& work);

}  // namespace lockstep::volume
