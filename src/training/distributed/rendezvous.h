// Lets the ranks of a run meet and watch each other. They use the launcher's store, or c10d's TCP
// store if there is no launcher.
#pragma once

#include "core/base/error.h"
#include "runtime/launch/watch/peer_watch.h"
#include "runtime/launch/world/world.h"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <memory>

namespace lockstep {

// Thrown if the ranks do not meet, usually because another rank did not start or has failed.
class MeetingFailed : public Error {
 public:
  using Error::Error;
};

// Meets the other ranks, and returns when all ranks have come. If World::store_door is set, the
// ranks meet in the launcher's store. If store_door is not set, the ranks meet in a TCP store at
// master_addr:master_port. Rank 0 serves the TCP store. If TORCHELASTIC_USE_AGENT_STORE is "True",
// torchrun's agent serves it instead. Throws MeetingFailed if a rank does not come within
// timeout_s, and names the missing ranks. Also throws MeetingFailed if the store cannot be reached,
// or if more ranks come than `world` has. The environment variable LOCKSTEP_MEET_TIMEOUT replaces
// timeout_s. Throws Error if the variable is not a duration.
c10::intrusive_ptr<c10d::Store> meet(const World& world, double timeout_s);

// Starts the watch over the ranks that met in `store`. The watch uses its own connection to the
// store.
std::unique_ptr<PeerWatch> watch_peers(const World& world, c10d::Store& store, PeerWatch::End end);

}  // namespace lockstep
