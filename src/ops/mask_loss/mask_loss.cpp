// Losses of a mask, by our kernels or with ATen's operators.
#include "ops/mask_loss/mask_loss.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"
#include "ops/shared/voxel_layout.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

namespace lockstep {
namespace {

MaskLossKernels mask_loss_kernels;  // set once, before the first step

bool mask_loss_kernels_serve(const at::Tensor& logits) {
  return logits.is_cuda() && mask_loss_kernels.forward != nullptr &&
         kernel_dtype(logits.scalar_type()) && logits.numel() > 0;
}

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

// All tensors must be dense. Logits have one channel, so their layout is the same in every memory
// format.
MaskLossArguments mask_arguments(const at::Tensor& logits, const at::Tensor& target,
                                 const at::Tensor& row_weight, const at::Tensor& row_sums,
                                 const MaskLossOptions& options) {
  const std::int64_t rows = logits.size(0), places = logits.numel() / rows;
  return {.logits = logits.const_data_ptr(),
          .dtype = kernel_dtype(logits.scalar_type()).value(),
          .target = target.const_data_ptr<std::uint8_t>(),
          .row_weight = row_weight.const_data_ptr<float>(),
          .rows = rows,
          .places = places,
          .chunks = (places + mask_loss_chunk - 1) / mask_loss_chunk,
          .ignore = options.ignore,
          .smooth = static_cast<float>(options.smooth),
          .alpha = static_cast<float>(options.focal_alpha),
          .gamma = static_cast<float>(options.focal_gamma),
          .row_sums = row_sums.mutable_data_ptr<float>()};
}

struct MaskLoss : torch::autograd::Function<MaskLoss> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const at::Tensor& logits, const at::Tensor& target,
                                                const at::Tensor& row_weight, std::int64_t ignore,
                                                double smooth, double alpha, double gamma) {
    const MaskLossOptions options{static_cast<int>(ignore), smooth, alpha, gamma};
    const auto dense = at::MemoryFormat::Contiguous;
    const at::Tensor values = lying_densely(logits, dense), masks = lying_densely(target, dense),
                     weights = row_weight.contiguous();
    const at::Tensor row_sums = at::empty({logits.size(0), 4}, weights.options());
    const MaskLossArguments shared = mask_arguments(values, masks, weights, row_sums, options);
    const at::Tensor partial = at::empty({shared.rows, shared.chunks, 6}, weights.options());
    torch::autograd::variable_list sums;
    for (int i = 0; i < 3; ++i) sums.push_back(at::empty({}, weights.options()));
    mask_loss_kernels.forward({.shared = shared,
                               .partial = partial.mutable_data_ptr<float>(),
                               .dice = sums[0].mutable_data_ptr<float>(),
                               .focal = sums[1].mutable_data_ptr<float>(),
                               .bce = sums[2].mutable_data_ptr<float>()});
    context->save_for_backward({logits, target, row_weight, row_sums});
    context->saved_data["ignore"] = ignore;
    context->saved_data["smooth"] = smooth;
    context->saved_data["alpha"] = alpha;
    context->saved_data["gamma"] = gamma;
    context->set_materialize_grads(false);
    return sums;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const MaskLossOptions options{static_cast<int>(context->saved_data["ignore"].toInt()),
                                  context->saved_data["smooth"].toDouble(),
                                  context->saved_data["alpha"].toDouble(),
                                  context->saved_data["gamma"].toDouble()};
    if (is_differentiated()) {
      const auto by_aten = [&](const std::vector<at::Tensor>& in) {
        const auto sums = mask_loss_reference(in[0], saved[1], saved[2], options);
        return std::vector<at::Tensor>{sums.begin(), sums.end()};
      };
      return {differentiable_gradients(by_aten, {saved[0]}, gradients)[0], {}, {}, {}, {}, {}, {}};
    }
    const auto dense = at::MemoryFormat::Contiguous;
    const at::Tensor values = lying_densely(saved[0], dense),
                     masks = lying_densely(saved[1], dense), weights = saved[2].contiguous();
    const at::Tensor of_logits = at::empty_like(values, dense);
    const auto number_at = [](const at::Tensor& gradient) {
      return gradient.defined() ? gradient.const_data_ptr<float>() : nullptr;
    };
    mask_loss_kernels.backward({.shared = mask_arguments(values, masks, weights, saved[3], options),
                                .of_dice = number_at(gradients[0]),
                                .of_focal = number_at(gradients[1]),
                                .of_bce = number_at(gradients[2]),
                                .of_logits = of_logits.mutable_data_ptr()});
    return {of_logits, {}, {}, {}, {}, {}, {}};
  }
};

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
  // For a row without valid places, `either` is 0 if smooth is 0, so it is replaced by 1.
  const at::Tensor dice =
      (1 - both / at::where(any, either, at::zeros_like(either) + 1)) * any.to(work) * weights;

  // Let `wrong` be the logit with the sign that is positive on the wrong side. Then 1 - p_t is its
  // sigmoid, and bce is its softplus.
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
  if (!mask_loss_kernels_serve(logits))
    return mask_loss_reference(logits, target, row_weight, options);
  const auto sums = MaskLoss::apply(logits, target, row_weight, std::int64_t{options.ignore},
                                    options.smooth, options.focal_alpha, options.focal_gamma);
  return {sums[0], sums[1], sums[2]};
}

void register_cuda_mask_loss(MaskLossKernels kernels) { mask_loss_kernels = kernels; }

}  // namespace lockstep
