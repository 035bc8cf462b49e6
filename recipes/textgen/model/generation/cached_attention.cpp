// Causal self-attention with several heads.
#include "recipes/textgen/model/generation/cached_attention.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>

#include <cmath>
#include <limits>
#include <optional>

namespace lockstep::textgen {
namespace {

// A mask [t, n]. Query i is the i-th of the last t positions, and the mask says whether it may
// attend to position j.
at::Tensor visible(std::int64_t t, std::int64_t n, at::Device device) {
  const auto options = at::TensorOptions().device(device).dtype(at::kLong);
  const at::Tensor own = at::arange(n - t, n, options), position = at::arange(n, options);
  return position.unsqueeze(0).le(own.unsqueeze(1));
}

}  // namespace

at::Tensor causal_attention(const at::Tensor& query, const at::Tensor& key,
                            const at::Tensor& value) {
  const std::int64_t t = query.size(2), n = key.size(2);
  std::optional<at::Tensor> mask;
  if (t > 1 && t != n) mask = visible(t, n, query.device());
  return at::scaled_dot_product_attention(query, key, value, mask, 0.0, t > 1 && t == n);
}

at::Tensor causal_attention_with_dropout(const at::Tensor& query, const at::Tensor& key,
                                         const at::Tensor& value, double p, std::int64_t layer,
                                         const StepContext& context) {
  const std::int64_t t = query.size(2);
  const double scale = 1 / std::sqrt(static_cast<double>(query.size(3)));
  at::Tensor scores = at::matmul(query.mul(scale), key.transpose(-2, -1));
  scores = scores.masked_fill(visible(t, t, query.device()).logical_not(),
                              -std::numeric_limits<double>::infinity());
  const at::Tensor probabilities = at::softmax(scores, -1);
  return at::matmul(context.dropout(probabilities, p, layer), value);
}

}  // namespace lockstep::textgen
