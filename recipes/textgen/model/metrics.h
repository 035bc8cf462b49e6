// Metrics of a validation set, from one record per block.
#pragma once

#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace lockstep::textgen {

// records: f64 [N,3] on the CPU: nats summed over the targets, number of targets, bytes of the
// targets. They are added up in row order, so that the result does not depend on how rows were
// distributed. Returns loss (nats/token), perplexity, bits_per_byte (unless all targets are
// separators, which have no bytes), tokens and, if known, pair_bits_per_byte, which a table of
// character pairs reaches on the same text. There must be at least one target.
std::vector<Metric> text_metrics(const at::Tensor& records,
                                 std::optional<double> pair_bits_per_byte);

}  // namespace lockstep::textgen
