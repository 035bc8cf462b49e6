// An order of samples in which a step has samples of similar length.
#pragma once

#include "planning/order/order.h"

#include <cstdint>
#include <functional>

namespace lockstep {

// How many steps' samples are sorted together. A larger number makes the lengths in a step more
// alike, and the choice of samples that meet in a step less random.
inline constexpr std::int64_t steps_sorted_together = 50;

// Returns `order`, whose epochs are cut into `steps`, changed within windows of
// steps_sorted_together steps. The samples of a window are sorted by length and cut into steps, and
// these steps are shuffled. If the epoch's last step is not full, it stays the last, and its
// samples are of any length. So data.drop_last leaves out no sample more often than others. With
// shuffle = false, steps stand in order of length. The result is pure, the same for any reader.
// length: the length of a sample of the dataset. Any thread may call `length` and the result.
SampleAt group_by_length(SampleAt order, const EpochSteps& steps, std::uint64_t seed, bool shuffle,
                         std::function<std::int64_t(std::int64_t sample)> length);

}  // namespace lockstep
