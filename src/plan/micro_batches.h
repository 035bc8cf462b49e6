// The micro-batch of each step of a run, where it does not stay the same: it shrinks when memory
// runs out, and a replay of a run shrinks it at the same steps.
#pragma once

#include "plan/plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// From the step after `step` finished ones on, micro-batches of `micro` samples.
struct MicroChange {
  std::int64_t step = 0, micro = 0;
  friend bool operator==(const MicroChange&, const MicroChange&) = default;
};

// "120:8,300:4", steps rising; "" is none. Throws Error naming `option` and what is wrong.
std::vector<MicroChange> parse_micro_changes(const std::string& text, const std::string& option);

// The same batch in micro-batches of `micro` samples, which divides a rank's share.
BatchPlan with_micro(BatchPlan batch, std::int64_t micro);

// The largest divisor of a rank's share below the present micro-batch; 0 where that is 1.
std::int64_t next_smaller_micro(const BatchPlan& batch);

// Throws Error unless every change leaves micro-batches that divide a rank's share.
void check_micro_changes(const std::vector<MicroChange>& changes, const BatchPlan& batch,
                         const std::string& option);

}  // namespace lockstep
