// The cross-entropy of next tokens.
#include "recipes/textgen/model/loss.h"

#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nll_loss.h>
#include <ATen/ops/sum.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace lockstep::textgen {
namespace {

// The loss of each target, [B*T]; 0 for ignored targets. The sum is computed separately, because
// the built-in reduction runs in one thread block and is slower on GPUs.
at::Tensor each_loss(const at::Tensor& logits, const at::Tensor& targets) {
  const at::ScalarType dtype = logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor log_p = at::log_softmax(logits.flatten(0, 1), -1, dtype);
  return at::nll_loss(log_p, targets.flatten(), std::nullopt, at::Reduction::None, kIgnored);
}

}  // namespace

at::Tensor token_loss(const at::Tensor& logits, const at::Tensor& targets) {
  return at::sum(each_loss(logits, targets));
}

at::Tensor row_losses(const at::Tensor& logits, const at::Tensor& targets) {
  return at::sum(each_loss(logits, targets).view(targets.sizes()), {1}, false, at::kDouble);
}

at::Tensor linear_row_losses(const at::Tensor& hidden, const at::Tensor& weight,
                             const at::Tensor& targets, std::int64_t piece_bytes) {
  const at::NoGradGuard no_grad;
  const std::int64_t rows = hidden.size(0), row_bytes = hidden.size(1) * weight.size(0) * 4;
  const std::int64_t piece = std::max<std::int64_t>(1, piece_bytes / row_bytes);
  std::vector<at::Tensor> losses;
  for (std::int64_t begin = 0; begin < rows; begin += piece) {
    const std::int64_t count = std::min(piece, rows - begin);
    losses.push_back(row_losses(at::linear(hidden.narrow(0, begin, count), weight),
                                targets.narrow(0, begin, count)));
  }
  return at::cat(losses);
}

}  // namespace lockstep::textgen
