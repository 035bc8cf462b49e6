// Cross-entropy of next tokens.
#include "recipes/textgen/model/loss.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nll_loss.h>
#include <ATen/ops/sum.h>

#include <optional>

namespace lockstep::textgen {
namespace {

// Loss of every target, [B*T]; 0 where it does not count. Summing apart is faster on GPUs than the
// built-in reduction, which runs in one thread block.
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

}  // namespace lockstep::textgen
