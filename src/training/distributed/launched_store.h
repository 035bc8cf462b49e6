// The launcher's store as one of c10d's, for Gloo and NCCL.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace lockstep {

// door: of the launcher (runtime/launch/world/store_server.h); not owned, and open for as long as
// the store and its clones are used. Throws StoreFailed, and c10::DistStoreError where a wait takes
// longer than the store's timeout.
c10::intrusive_ptr<c10d::Store> launched_store(int door, std::chrono::milliseconds timeout);

}  // namespace lockstep
