// Wraps the launcher's key-value store as a c10d::Store, which Gloo and NCCL can use.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace lockstep {

// door: a file descriptor of the launcher's socket (runtime/launch/world/store_server.h). The
// caller owns the descriptor, and keeps it open as long as the store and its clones are used. This
// function and the functions of the store throw StoreFailed if the connection fails. Functions of
// the store throw c10::DistStoreError if a wait takes longer than the timeout.
c10::intrusive_ptr<c10d::Store> launched_store(int door, std::chrono::milliseconds timeout);

}  // namespace lockstep
