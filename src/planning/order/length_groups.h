// An order of samples in which those of like length stand in the same step.
#pragma once

#include "planning/order/order.h"

#include <cstdint>
#include <functional>

namespace lockstep {

// How many steps' samples are sorted together: the more, the more alike a step's lengths are, and
// the less random is which samples meet in a step.
inline constexpr std::int64_t steps_sorted_together = 50;

// `order`, of `steps`, changed within windows of so many steps: a window's samples are sorted by
// length, cut into steps, and the steps shuffled. Where the epoch's last step is not full it stays
// the last, and its samples are of any length, so that none is left out more often than others by
// data.drop_last. With shuffle = false steps stand by length. The same for any reader; pure, any
// thread. length: of a sample of the dataset; any thread.
SampleAt group_by_length(SampleAt order, const EpochSteps& steps, std::uint64_t seed, bool shuffle,
                         std::function<std::int64_t(std::int64_t sample)> length);

}  // namespace lockstep
