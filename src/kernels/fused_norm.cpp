// Instance norm with its neighbours, in ATen's operators.
#include "kernels/fused_norm.h"

#include "base/error.h"
#include "base/text.h"
#include "kernels/spatial.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/relu.h>

#include <vector>

namespace lockstep {
namespace {

void check_instance_norm_act(const at::Tensor& x, const at::Tensor& channel_scale,
                             const at::Tensor& skip) {
  if ((x.dim() != 4 && x.dim() != 5) || !x.is_floating_point())
    throw Error(cat("instance_norm_act wants floating [B, C, H, W] or [B, C, D, H, W], but got ",
                    x.sizes(), " of ", x.scalar_type()));
  if (x.numel() > 0 && x.numel() == x.size(0) * x.size(1))
    throw Error(cat("instance_norm_act got one element per row and channel, of shape ", x.sizes(),
                    ", which leaves nothing once its mean is taken off"),
                "take a larger input, or a smaller depth");
  if (channel_scale.defined() &&
      (channel_scale.sizes() != x.sizes().slice(0, 2) || channel_scale.device() != x.device() ||
       channel_scale.scalar_type() != at::kFloat))
    throw Error(cat("instance_norm_act wants channel_scale of f32 ", x.sizes().slice(0, 2),
                    ", but got ", channel_scale.sizes(), " of ", channel_scale.scalar_type()));
  if (skip.defined() && (skip.sizes() != x.sizes() || skip.scalar_type() != x.scalar_type()))
    throw Error(cat("instance_norm_act wants skip as x, ", x.sizes(), " of ", x.scalar_type(),
                    ", but got ", skip.sizes(), " of ", skip.scalar_type()));
}

}  // namespace

at::Tensor instance_norm_act_reference(const at::Tensor& x, const at::Tensor& channel_scale,
                                       const at::Tensor& skip, bool relu, double epsilon) {
  at::Tensor y = instance_norm_layer(x, {}, {}, epsilon);
  if (channel_scale.defined()) {
    std::vector<std::int64_t> beside(static_cast<std::size_t>(x.dim()), 1);
    beside[0] = x.size(0);
    beside[1] = x.size(1);
    y = y * channel_scale.to(x.scalar_type()).view(beside);
  }
  if (skip.defined()) y = y + skip;
  return relu ? at::relu(y) : y;
}

at::Tensor instance_norm_act(const at::Tensor& x, const at::Tensor& channel_scale,
                             const at::Tensor& skip, bool relu, double epsilon) {
  check_instance_norm_act(x, channel_scale, skip);
  return instance_norm_act_reference(x, channel_scale, skip, relu, epsilon);
}

}  // namespace lockstep
