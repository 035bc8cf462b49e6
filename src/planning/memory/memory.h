// The bytes that a model and its micro-batch need on a device by the recipe's formula, and the
// bytes that a device has. planning/batch/micro_batch uses both.
#pragma once

#include "planning/plan.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep {

// The device with the least available memory. Nothing if no device's memory is known.
struct TightestDevice {
  std::size_t rank = 0;
  // Bytes that a rank may use. For a GPU, its memory less 8 % and 512 MiB, which are left for the
  // context, libraries and fragmentation. For a CPU rank, half of its share of the host's memory.
  double available_bytes = 0;
};
std::optional<TightestDevice> tightest_device(const std::vector<Device>& devices);

// The largest micro-batch that fits on every device by the estimate, at least 1. If the memory of
// no device is known, the result is a very large number.
std::int64_t largest_micro(const MemoryEstimate& memory, const std::vector<Device>& devices);

// Bytes of gradient and weights per parameter on a rank. In bf16 and fp16, the weights are the
// working copy.
double weight_bytes_per_parameter(const TrainOptions& options);
// Bytes per parameter that only the update needs: moments, averaged weights, and in bf16 and fp16
// also the fp32 weights.
double optimizer_bytes_per_parameter(const TrainOptions& options);

// Corrects the estimate for update rules that treat parameters differently (facts.optimized).
// `whole` counts the largest state for every parameter; the result has the states and workspace of
// each rule. With shard_optimizer, it also adds the empty parts of bins (planning/batch/buckets.h).
// The result then assumes that every rank has as much optimizer state as the rank with the most.
// Returns `whole` if facts.optimized is empty.
MemoryEstimate with_rules(MemoryEstimate whole, const TrainOptions& options, const Facts& facts,
                          std::size_t ranks);

// The estimate for one rank with shard_optimizer. whole: the result of with_rules.
MemoryEstimate share_of_a_rank(MemoryEstimate whole, std::size_t ranks);

// Bytes that shard_optimizer saves on the rank with the most optimizer state. The padding that its
// layout adds is subtracted. 0 or less if it saves nothing. 0 if the recipe has no formula. whole:
// the estimate of that formula without shard_optimizer.
double sharding_saves(const MemoryEstimate& whole, const TrainOptions& options, const Facts& facts,
                      std::size_t ranks);

// The peak bytes of a rank if the first `blocks` blocks are recomputed in backward. Training needs
// the fixed part, the activations, and the larger of the temporary bytes of loss and backward.
// Evaluation needs the fixed part and evaluation_bytes. The result is the larger of the two needs.
double needed_bytes(const MemoryEstimate& memory, std::int64_t micro, std::int64_t blocks = 0);

// Replaces per_sample_bytes by the value that follows from a measured peak. micro: the micro-batch
// of that measurement, in which no activations were recomputed. Returns false, and changes nothing,
// if the peak is not above the fixed and temporary bytes.
bool take_peak(MemoryEstimate& memory, std::int64_t micro, double peak_bytes);

}  // namespace lockstep
