// Real Gloo ranks as threads of one test process.
#pragma once

#include "engine/backend.h"
#include "engine/process_group.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace lockstep::testing {

// Listens for the ranks, as the launcher does, and hands that on to rank 0: a rank that came before
// would try again seconds later. The port.
inline int listen_for_ranks() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  bind(fd, reinterpret_cast<sockaddr*>(&address), length);
  listen(fd, 64);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  setenv("LOCKSTEP_LISTEN_FD", std::to_string(fd).c_str(), 1);
  return ntohs(address.sin_port);
}

// Runs `body` once a rank, each in its own thread with its own process group; rethrows the first
// failure.
inline void with_ranks(int size, const std::function<void(ProcessGroup&)>& body,
                       const RankLimits& limits = {.start_s = 60, .collective_s = 60}) {
  // c10d's flight recorder, one a process, may not be written to by two groups at once.
  setenv("TORCH_FR_BUFFER_SIZE", "0", 1);
  const int port = listen_for_ranks();
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        const World world{.rank = rank,
                          .local_rank = rank,
                          .size = size,
                          .local_size = size,
                          .master_addr = "127.0.0.1",
                          .master_port = port};
        ProcessGroup group(world, cpu_backend(), limits);
        body(group);
        group.shutdown();
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  unsetenv("LOCKSTEP_LISTEN_FD");
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace lockstep::testing
