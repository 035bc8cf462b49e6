// Many similar pieces of work on all cores, in bounded memory.
#pragma once

#include <cstddef>
#include <functional>

namespace lockstep::volume {

struct ParallelWork {
  std::size_t count = 0;
  // The memory that piece i takes, about, in whole bytes; called before it begins, on its thread.
  // Empty: not counted.
  std::function<double(std::size_t)> bytes{};
  std::function<void(std::size_t)> run;  // on any thread, several at once
  // On the calling thread, now and then, with the pieces that are done.
  std::function<void(std::size_t)> progress{};
};

// Pieces begin in their order. After one has failed no other begins; the error of the first in
// order is thrown when those that had begun are over. A piece that takes more than
// `most_bytes` runs alone.
void run_parallel(const ParallelWork& work, std::size_t threads, double most_bytes);
// With the cores and a quarter of the memory that this process may use.
void run_parallel(const ParallelWork& work);

}  // namespace lockstep::volume
