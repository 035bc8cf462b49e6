// Real Gloo ranks as threads of one test process.
#pragma once

#include "backends/backend.h"
#include "runtime/launch/world/store_server.h"
#include "training/distributed/process_group.h"

#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace lockstep::testing {

// Runs `body` once a rank, each in its own thread with its own process group; rethrows the first
// failure.
inline void with_ranks(const StoreServer& store, int size,
                       const std::function<void(ProcessGroup&)>& body,
                       const RankLimits& limits = {.start_s = 60, .collective_s = 60}) {
  // c10d's flight recorder, one a process, may not be written to by two groups at once.
  setenv("TORCH_FR_BUFFER_SIZE", "0", 1);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        const World world{.rank = rank,
                          .local_rank = rank,
                          .size = size,
                          .local_size = size,
                          .store_door = store.door()};
        ProcessGroup group(world, cpu_backend(), limits);
        body(group);
        group.shutdown();
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

inline void with_ranks(int size, const std::function<void(ProcessGroup&)>& body,
                       const RankLimits& limits = {.start_s = 60, .collective_s = 60}) {
  with_ranks(StoreServer(), size, body, limits);
}

}  // namespace lockstep::testing
