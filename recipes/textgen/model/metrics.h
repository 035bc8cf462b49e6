// Computes the metrics of a validation set from the records of its blocks.
#pragma once

#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace lockstep::textgen {

// records: f64 [N,3] on the CPU. A row has these sums over the targets of a block: the loss in
// nats, the number of targets, and the number of their bytes. The records must contain at least one
// target. Records are added up in row order, so the result does not depend on which rank computed a
// row. The metrics are:
//   loss                 in nats per token
//   perplexity           exp(loss)
//   bits_per_byte        absent if all targets are separators of documents, which have no bytes
//   tokens               the number of targets
//   pair_bits_per_byte   the bits per byte of a baseline, a table of byte pairs; absent if unknown
std::vector<Metric> text_metrics(const at::Tensor& records,
                                 std::optional<double> pair_bits_per_byte);

}  // namespace lockstep::textgen
