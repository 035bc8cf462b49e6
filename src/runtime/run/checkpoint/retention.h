// Decides which checkpoints to keep.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/run/checkpoint/checkpoint_index.h"

namespace lockstep {

struct Retention {
  std::int64_t keep = 4;      // number of the newest checkpoints to keep
  double keep_every_s = 0;    // also keeps one checkpoint per this time; 0 = off
  std::string best_metric{};  // also keeps the checkpoint with the best value; empty = off
  bool lower_is_better = true;
};

// Returns the checkpoints to delete. all: all checkpoints, oldest first. The newest undamaged
// checkpoint is never deleted. Damaged checkpoints are not deleted, and the rule ignores them. This
// function is pure. If it is applied again to the remaining checkpoints, it deletes nothing more.
std::vector<CheckpointInfo> to_delete(const std::vector<CheckpointInfo>& all,
                                      const Retention& rule);

}  // namespace lockstep
