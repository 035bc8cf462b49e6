// How the ranks of a world find each other and watch each other: through the store of the launcher
// that started them, or through c10d's TCP store.
#pragma once

#include "core/base/error.h"
#include "runtime/launch/watch/peer_watch.h"
#include "runtime/launch/world/world.h"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <memory>

namespace lockstep {

// Another rank did not come, or left while the ranks met. It may be the cause.
class MeetingFailed : public Error {
 public:
  using Error::Error;
};

// Meets the other ranks in the launcher's store if the world has the launcher's door. Otherwise
// meets them at master_addr:master_port. The store there is served by rank 0, or by torchrun's
// agent if TORCHELASTIC_USE_AGENT_STORE says so. Returns when all ranks are there. Throws
// MeetingFailed, naming the missing ranks, after timeout_s, or after LOCKSTEP_MEET_TIMEOUT if that
// is set. Throws Error if LOCKSTEP_MEET_TIMEOUT is not a duration.
c10::intrusive_ptr<c10d::Store> meet(const World& world, double timeout_s);

// Starts a watch over the ranks that met in `store`, on a separate connection.
std::unique_ptr<PeerWatch> watch_peers(const World& world, c10d::Store& store, PeerWatch::End end);

}  // namespace lockstep
