// How the ranks of a world find each other, and how they keep in touch: in the store of the
// launcher that started them, or in c10d's TCP store.
#pragma once

#include "core/base/error.h"
#include "runtime/launch/watch/peer_watch.h"
#include "runtime/launch/world/world.h"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <memory>

namespace lockstep {

// Another rank did not come, or went while the ranks met: it may be the cause.
class MeetingFailed : public Error {
 public:
  using Error::Error;
};

// Meets the other ranks in the launcher's store where the world has its door; else at
// master_addr:master_port, where rank 0 serves the store, or torchrun's agent where
// TORCHELASTIC_USE_AGENT_STORE says so. Returns when all are there. Throws MeetingFailed, naming
// those that are not, after timeout_s, or LOCKSTEP_MEET_TIMEOUT where that is set; Error if that is
// no duration.
c10::intrusive_ptr<c10d::Store> meet(const World& world, double timeout_s);

// A watch over the ranks that met in `store`, on a connection of its own.
std::unique_ptr<PeerWatch> watch_peers(const World& world, c10d::Store& store, PeerWatch::End end);

}  // namespace lockstep
