// Presents the launcher's store as a c10d::Store, for Gloo and NCCL.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace lockstep {

// door: the launcher's door (runtime/launch/world/store_server.h). It is not owned, and must stay
// open as long as the store and its clones are used. Throws StoreFailed. Throws c10::DistStoreError
// if a wait takes longer than the store's timeout.
c10::intrusive_ptr<c10d::Store> launched_store(int door, std::chrono::milliseconds timeout);

}  // namespace lockstep
