// Losses of a mask, in ATen's operators.
#include "kernels/mask_loss.h"

#include "base/error.h"
#include "base/text.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <vector>

namespace lockstep {
namespace {

void check_mask_loss(const at::Tensor& logits, const at::Tensor& target,
                     const at::Tensor& row_weight, const MaskLossOptions& options) {
  if (logits.dim() < 3 || logits.size(1) != 1 || !logits.is_floating_point())
    throw Error(cat("mask_loss wants floating logits of [B, 1, …], but got ", logits.sizes(),
                    " of ", logits.scalar_type()));
  std::vector<std::int64_t> wanted = logits.sizes().vec();
  wanted.erase(wanted.begin() + 1);
  if (target.sizes() != at::IntArrayRef(wanted) || target.scalar_type() != at::kByte ||
      target.device() != logits.device())
    throw Error(cat("mask_loss wants a target of u8 ", at::IntArrayRef(wanted), ", but got ",
                    target.sizes(), " of ", target.scalar_type()));
  if (row_weight.sizes() != logits.sizes().slice(0, 1) || row_weight.scalar_type() != at::kFloat ||
      row_weight.device() != logits.device())
    throw Error(cat("mask_loss wants a weight per row of f32 [", logits.size(0), "], but got ",
                    row_weight.sizes(), " of ", row_weight.scalar_type()));
  if (options.ignore < -1 || options.ignore > 255)
    throw Error(
        cat("mask_loss wants a value to ignore of 0 to 255, or -1, but got ", options.ignore));
  if (!(options.focal_gamma >= 0) || !(options.smooth >= 0))
    throw Error(cat("mask_loss wants focal_gamma and smooth of at least 0, but got ",
                    options.focal_gamma, " and ", options.smooth));
}

}  // namespace

std::array<at::Tensor, 3> mask_loss_reference(const at::Tensor& logits, const at::Tensor& target,
                                              const at::Tensor& row_weight,
                                              const MaskLossOptions& options) {
  const auto work = logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const std::int64_t rows = logits.size(0);
  const at::Tensor targets = target.reshape({rows, -1});
  const at::Tensor counts = options.ignore < 0 ? targets.ge(0) : targets.ne(options.ignore);
  const at::Tensor wide = logits.reshape({rows, -1}).to(work);
  const at::Tensor values = at::where(counts, wide, at::zeros_like(wide));
  const at::Tensor valid = counts.to(work), foreground = targets.ne(0).to(work) * valid;
  const at::Tensor weights = row_weight.to(work);

  const at::Tensor p = at::sigmoid(values) * valid;
  const at::Tensor both = 2 * (p * foreground).sum(1) + options.smooth;
  const at::Tensor either = p.sum(1) + foreground.sum(1) + options.smooth;
  const at::Tensor any = counts.any(1);
  // A row of which nothing counts must not divide by a smooth of 0.
  const at::Tensor dice =
      (1 - both / at::where(any, either, at::zeros_like(either) + 1)) * any.to(work) * weights;

  // 1 - p_t and bce are sigmoid and softplus of the logit towards the wrong side.
  const at::Tensor wrong = values * (1 - 2 * foreground);
  const at::Tensor bce = at::softplus(wrong, 1, 40) * valid;
  const at::Tensor alpha =
      foreground * options.focal_alpha + (1 - foreground) * (1 - options.focal_alpha);
  const at::Tensor focal = alpha * at::sigmoid(wrong).pow(options.focal_gamma) * bce;
  return {dice.sum(), (focal.sum(1) * weights).sum(), (bce.sum(1) * weights).sum()};
}

std::array<at::Tensor, 3> mask_loss(const at::Tensor& logits, const at::Tensor& target,
                                    const at::Tensor& row_weight, const MaskLossOptions& options) {
  check_mask_loss(logits, target, row_weight, options);
  return mask_loss_reference(logits, target, row_weight, options);
}

}  // namespace lockstep
