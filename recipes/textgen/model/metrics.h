// Computes the metrics of a validation set from the records of its blocks.
#pragma once

#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace lockstep::textgen {

// records: f64 [N,3] on the CPU. A row holds the nats summed over a block's targets, the number of
// targets, and the bytes of the targets. There must be at least one target. Records are added up in
// row order, so the result does not depend on which rank computed a row. The metrics are:
//   loss                 in nats per token
//   perplexity           exp(loss)
//   bits_per_byte        absent if all targets are separators, because these have no bytes
//   tokens               the number of targets
//   pair_bits_per_byte   the bits per byte of a baseline, a table of byte pairs; absent if unknown
std::vector<Metric> text_metrics(const at::Tensor& records,
                                 std::optional<double> pair_bits_per_byte);

}  // namespace lockstep::textgen
