// Decides which checkpoints to keep.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/run/checkpoint/checkpoint_index.h"

namespace lockstep {

struct Retention {
  std::int64_t keep = 4;      // how many of the newest are kept
  double keep_every_s = 0;    // additionally keeps one per this time; 0 = none
  std::string best_metric{};  // additionally keeps the best by this metric; empty = none
  bool lower_is_better = true;
};

// Returns the checkpoints to delete. all: all checkpoints, oldest first. The newest undamaged one
// is never deleted. Damaged ones do not count and are not deleted. Pure. Applied again to the rest,
// it deletes nothing more.
std::vector<CheckpointInfo> to_delete(const std::vector<CheckpointInfo>& all,
                                      const Retention& rule);

}  // namespace lockstep
