// Decides which checkpoints to keep.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/run/checkpoint/checkpoint_index.h"

namespace lockstep {

struct Retention {
  std::int64_t keep = 4;      // the newest ones
  double keep_every_s = 0;    // also one per such time; 0 = none
  std::string best_metric{};  // also the best by this metric; empty = none
  bool lower_is_better = true;
};

// Returns the checkpoints to delete, given all checkpoints, oldest first. The newest is never among
// them. Damaged ones in `all` neither count nor are deleted. Pure and stable: applied again to the
// rest, it deletes nothing more.
std::vector<CheckpointInfo> to_delete(const std::vector<CheckpointInfo>& all,
                                      const Retention& rule);

}  // namespace lockstep
