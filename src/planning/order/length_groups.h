// An order in which each step has samples of similar length.
#pragma once

#include "planning/order/order.h"

#include <cstdint>
#include <functional>

namespace lockstep {

// The number of steps whose samples are sorted together. With a larger number, the lengths in a
// step are more similar, but the choice of samples in a step is less random.
inline constexpr std::int64_t steps_sorted_together = 50;

// Changes `order` within windows of steps_sorted_together steps. The samples of a window are sorted
// by length and cut into steps, and these steps are shuffled. If the last step of the epoch is not
// full, it stays last and takes its samples from a random place in the sorted window. So
// data.drop_last does not leave out some samples more often than others. With shuffle = false, the
// steps of a window are in order of length. length: the length of a sample of the dataset. The
// returned function is pure. Any thread may call `length` and the returned function.
SampleAt group_by_length(SampleAt order, const EpochSteps& steps, std::uint64_t seed, bool shuffle,
                         std::function<std::int64_t(std::int64_t sample)> length);

}  // namespace lockstep
