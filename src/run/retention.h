// Which checkpoints stay.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/checkpoint_index.h"

namespace lockstep {

struct Retention {
  std::int64_t keep = 4;      // newest
  double keep_every_s = 0;    // and one each such time; 0 = none
  std::string best_metric{};  // and the best by this; empty = none
  bool lower_is_better = true;
};

// Which to delete, given all good ones oldest first. Never the newest. Damaged ones in `all`
// neither count nor are deleted. Pure, and stable: applying it again to what is left deletes
// nothing more.
std::vector<CheckpointInfo> to_delete(const std::vector<CheckpointInfo>& all,
                                      const Retention& rule);

}  // namespace lockstep
