// Whether a model and its micro-batch fit into the memory of a plan's devices.
#pragma once

#include "plan/plan.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep {

// Bytes of a device that a rank may plan with: a GPU less 8 % and 512 MiB (context, libraries,
// fragmentation), half of a CPU rank's share of the host. 0 = unknown.
double available_bytes(const Device& device);

// Where memory is tightest; nothing if no device's memory is known.
struct TightestDevice {
  std::size_t rank = 0;
  double available_bytes = 0;
};
std::optional<TightestDevice> tightest_device(const std::vector<Device>& devices);

// The largest micro-batch that fits on every device by the estimate, at least 1; a very large
// number if nothing is known to limit it.
std::int64_t largest_micro(const MemoryEstimate& memory, const std::vector<Device>& devices);

// Bytes of a parameter on a rank: gradient and weights, in low precision the working copy.
double weight_bytes_per_parameter(const TrainOptions& options);
// Bytes of a parameter that only the update needs: moments, the average of the weights, and in low
// precision the fp32 weights.
double optimizer_bytes_per_parameter(const TrainOptions& options);

// The recipe's estimate for one of so many ranks: with shard_optimizer, its share.
MemoryEstimate for_a_rank(MemoryEstimate memory, const TrainOptions& options, std::size_t ranks);

// What a rank has at most at once: the fixed part, the activations, and the larger of what the loss
// and what backward need for a moment.
double needed_bytes(const MemoryEstimate& memory, std::int64_t micro);
// The same with the first `blocks` blocks computed again in backward.
double needed_bytes(const MemoryEstimate& memory, std::int64_t micro, std::int64_t blocks);

// How many blocks to compute again, by memory.recompute: with `auto` the fewest that fit, or all
// where nothing fits.
std::int64_t blocks_to_recompute(const MemoryEstimate& memory, std::int64_t micro,
                                 const TrainOptions& options, const std::vector<Device>& devices);

// Replaces the bytes a sample of `memory`, which is of a rank that shares nothing, by what follows
// from a peak at this micro-batch with all activations kept; false where nothing does.
bool take_peak(MemoryEstimate& memory, const TrainOptions& options, std::size_t ranks, double micro,
               double peak_bytes);

// Throws Error if the part that no micro-batch can shrink exceeds a device's whole memory.
void check_fixed_part_fits(const MemoryEstimate& memory, const std::vector<Device>& devices);

}  // namespace lockstep
