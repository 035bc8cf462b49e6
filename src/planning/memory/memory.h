// Bytes that a model and its micro-batch take on a device, by the recipe's formula, and bytes that
// a device has. planning/batch/micro_batch decides what follows from them.
#pragma once

#include "planning/plan.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep {

// The device where memory is tightest; nothing if no device's memory is known.
struct TightestDevice {
  std::size_t rank = 0;
  // Bytes that a rank may plan with: a GPU's memory less 8 % and 512 MiB (context, libraries,
  // fragmentation), or half of a CPU rank's share of the host.
  double available_bytes = 0;
};
std::optional<TightestDevice> tightest_device(const std::vector<Device>& devices);

// The largest micro-batch that fits on every device by the estimate, at least 1; a very large
// number if nothing is known to limit it.
std::int64_t largest_micro(const MemoryEstimate& memory, const std::vector<Device>& devices);

// Bytes of a parameter on a rank: gradient and weights; in low precision, the working copy of the
// weights.
double weight_bytes_per_parameter(const TrainOptions& options);
// Bytes of a parameter that only the update needs: moments, the average of the weights, and in low
// precision the fp32 weights.
double optimizer_bytes_per_parameter(const TrainOptions& options);

// With facts.optimized: `whole` with the states and workspace of the optimizer's rules, where
// `whole` counts all parameters alike. With shard_optimizer, also adds what bins of whole
// parameters leave empty (planning/batch/buckets.h), as if all ranks kept as much as the one that
// keeps most.
MemoryEstimate with_rules(MemoryEstimate whole, const TrainOptions& options, const Facts& facts,
                          std::size_t ranks);

// A rank's share, with shard_optimizer, of what with_rules returns.
MemoryEstimate share_of_a_rank(MemoryEstimate whole, std::size_t ranks);

// Bytes that shard_optimizer saves on the rank that keeps most, less the padding that its layout
// adds to weights and gradients. At most 0: it saves nothing. 0 if the recipe has no formula.
// whole: that formula, for a rank that shares nothing.
double sharding_saves(const MemoryEstimate& whole, const TrainOptions& options, const Facts& facts,
                      std::size_t ranks);

// The most bytes that a rank has at once with the first `blocks` blocks computed again in backward.
// They are the fixed part, and the activations with the larger of what the loss and what backward
// need for a moment; or what an evaluation needs, where that is more.
double needed_bytes(const MemoryEstimate& memory, std::int64_t micro, std::int64_t blocks = 0);

// Replaces the formula's bytes a sample by those that follow from a rank's peak at this micro-batch
// with all activations kept. Returns false if none follow from it.
bool take_peak(MemoryEstimate& memory, std::int64_t micro, double peak_bytes);

}  // namespace lockstep
