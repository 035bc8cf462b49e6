// Computes metrics of a validation set from one record per block.
#include "recipes/textgen/model/metrics.h"

#include "core/base/check.h"

#include <cmath>
#include <numbers>

namespace lockstep::textgen {

std::vector<Metric> text_metrics(const at::Tensor& records,
                                 std::optional<double> pair_bits_per_byte) {
  LOCKSTEP_CHECK(records.dim() == 2 && records.size(1) == 3);
  const at::Tensor rows = records.contiguous();
  const double* row = rows.const_data_ptr<double>();
  double nats = 0, tokens = 0, bytes = 0;
  for (std::int64_t i = 0; i < rows.size(0); ++i, row += 3) {
    nats += row[0];
    tokens += row[1];
    bytes += row[2];
  }
  LOCKSTEP_CHECK(tokens > 0);
  const double loss = nats / tokens;
  std::vector<Metric> metrics = {
      {.name = "loss", .value = loss, .unit = "nats/token", .lower_is_better = true},
      {.name = "perplexity", .value = std::exp(loss), .unit = "", .lower_is_better = true},
      {.name = "tokens", .value = tokens, .unit = "tokens", .lower_is_better = false}};
  if (bytes > 0)
    metrics.insert(metrics.begin() + 2, {.name = "bits_per_byte",
                                         .value = nats / std::numbers::ln2 / bytes,
                                         .unit = "bits/byte",
                                         .lower_is_better = true});
  if (pair_bits_per_byte)
    metrics.push_back({.name = "pair_bits_per_byte",
                       .value = *pair_bits_per_byte,
                       .unit = "bits/byte",
                       .lower_is_better = true});
  return metrics;
}

}  // namespace lockstep::textgen
