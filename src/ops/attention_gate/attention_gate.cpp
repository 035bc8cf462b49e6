// Gates over channels and places, by our kernels or with ATen's operators.
#include "ops/attention_gate/attention_gate.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"
#include "ops/shared/voxel_layout.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sigmoid.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

namespace lockstep {
namespace {

AttentionGateKernels attention_gate_kernels;  // set once, before the first step

bool attention_gate_kernels_serve(const at::Tensor& x) {
  return x.is_cuda() && attention_gate_kernels.pool_forward != nullptr &&
         kernel_dtype(x.scalar_type());
}

bool spatial_gate_kernels_serve(const at::Tensor& x) {
  const std::int64_t most =
      x.size(1) % 8 == 0 ? spatial_gate_most_vectors : spatial_gate_most_scalars;
  return attention_gate_kernels_serve(x) && x.size(1) <= most;
}

void check_gated(const char* operation, const at::Tensor& x) {
  if ((x.dim() == 4 || x.dim() == 5) && x.is_floating_point() && x.numel() > 0) return;
  throw Error(cat(operation, " wants floating [B, C, H, W] or [B, C, D, H, W], but got ", x.sizes(),
                  " of ", x.scalar_type()));
}

bool fits_beside(const at::Tensor& tensor, const at::Tensor& x) {
  return tensor.device() == x.device() &&
         (tensor.scalar_type() == x.scalar_type() || tensor.scalar_type() == at::kFloat);
}

void check_spatial_gate(const at::Tensor& x, const at::Tensor& channel_gate,
                        const at::Tensor& weight) {
  check_gated("spatial_gate", x);
  if (channel_gate.sizes() != x.sizes().slice(0, 2) || !fits_beside(channel_gate, x))
    throw Error(cat("spatial_gate wants a gate per channel of ", x.sizes().slice(0, 2),
                    " in x's type or f32, but got ", channel_gate.sizes(), " of ",
                    channel_gate.scalar_type()));
  const std::int64_t k = weight.dim() > 2 ? weight.size(2) : 0;
  std::vector<std::int64_t> wanted{1, 2};
  wanted.resize(static_cast<std::size_t>(x.dim()), k);
  if (weight.sizes() != at::IntArrayRef(wanted) || k % 2 != 1 || k > 7 || !fits_beside(weight, x))
    throw Error(cat("spatial_gate wants a weight of [1, 2, k, …] with ", x.dim() - 2,
                    " equal sizes of 1, 3, 5 or 7, in x's type or f32, but got ", weight.sizes(),
                    " of ", weight.scalar_type()));
}

std::vector<std::int64_t> spatial_dimensions(const at::Tensor& x) {
  std::vector<std::int64_t> dims;
  for (std::int64_t dim = 2; dim < x.dim(); ++dim) dims.push_back(dim);
  return dims;
}

struct VoxelPool : torch::autograd::Function<VoxelPool> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const at::Tensor& x) {
    const at::Tensor rows = lying_densely(x, x.suggest_memory_format());
    const VoxelLayout layout = voxel_layout(rows);
    const auto f32 = x.options().dtype(at::kFloat);
    const at::Tensor mean = at::empty({x.size(0), x.size(1)}, x.options());
    const at::Tensor largest = at::empty_like(mean), share = at::empty(mean.sizes(), f32);
    const at::Tensor partial = at::empty({layout.rows, layout.chunks, 3, layout.channels}, f32);
    attention_gate_kernels.pool_forward({.layout = layout,
                                         .x = rows.const_data_ptr(),
                                         .mean = mean.mutable_data_ptr(),
                                         .largest = largest.mutable_data_ptr(),
                                         .share = share.mutable_data_ptr<float>(),
                                         .partial = partial.mutable_data_ptr<float>()});
    context->save_for_backward({x, largest, share});
    context->set_materialize_grads(false);
    return {mean, largest, x};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    if (!gradients[0].defined() && !gradients[1].defined()) return {gradients[2]};
    const auto saved = context->get_saved_variables();
    if (is_differentiated()) {
      const auto by_aten = [](const std::vector<at::Tensor>& in) {
        const auto [mean, largest] = mean_and_max_over_voxels_reference(in[0]);
        return std::vector<at::Tensor>{mean, largest};
      };
      const at::Tensor of_x =
          differentiable_gradients(by_aten, {saved[0]}, {gradients[0], gradients[1]})[0];
      return {gradients[2].defined() && of_x.defined() ? of_x + gradients[2] : of_x};
    }
    const auto format = saved[0].suggest_memory_format();
    const at::Tensor rows = lying_densely(saved[0], format);
    const at::Tensor of_x = at::empty_like(rows, format);
    const auto dense = [](const at::Tensor& gradient) {
      return gradient.defined() ? gradient.contiguous() : gradient;
    };
    const at::Tensor of_mean = dense(gradients[0]), of_largest = dense(gradients[1]);
    const at::Tensor of_through =
        gradients[2].defined() ? lying_densely(gradients[2], format) : at::Tensor();
    attention_gate_kernels.pool_backward({.layout = voxel_layout(rows),
                                          .x = rows.const_data_ptr(),
                                          .largest = saved[1].const_data_ptr(),
                                          .share = saved[2].const_data_ptr<float>(),
                                          .of_mean = data_of(of_mean),
                                          .of_largest = data_of(of_largest),
                                          .of_through = data_of(of_through),
                                          .of_x = of_x.mutable_data_ptr()});
    return {of_x};
  }
};

// All tensors must be dense, and x must be channels-last.
SpatialGateShape gate_shape(const at::Tensor& x, const at::Tensor& channel_gate,
                            const at::Tensor& weight) {
  const bool flat = x.dim() == 4;
  const auto k = static_cast<int>(weight.size(2));
  return {.layout = channels_last_layout(x),
          .depth = flat ? 1 : x.size(2),
          .height = x.size(-2),
          .width = x.size(-1),
          .k = k,
          .k_depth = flat ? 1 : k,
          .x = x.const_data_ptr(),
          .channel_gate = channel_gate.const_data_ptr(),
          .weight = weight.const_data_ptr(),
          .channel_gate_dtype = kernel_dtype(channel_gate.scalar_type()).value(),
          .weight_dtype = kernel_dtype(weight.scalar_type()).value()};
}

struct SpatialGate : torch::autograd::Function<SpatialGate> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& channel_gate, const at::Tensor& weight) {
    const auto format = channels_last_format(x);
    const at::Tensor rows = lying_densely(x, format), gates = channel_gate.contiguous(),
                     weights = weight.contiguous();
    const SpatialGateShape shape = gate_shape(rows, gates, weights);
    const auto f32 = x.options().dtype(at::kFloat);
    const at::Tensor maps = at::empty({x.size(0), 2, shape.layout.voxels}, f32);
    const at::Tensor places = at::empty({x.size(0), shape.layout.voxels}, f32);
    const at::Tensor y = at::empty_like(rows, format);
    attention_gate_kernels.gate_forward({.shape = shape,
                                         .maps = maps.mutable_data_ptr<float>(),
                                         .places = places.mutable_data_ptr<float>(),
                                         .y = y.mutable_data_ptr()});
    context->save_for_backward({x, channel_gate, weight, maps, places});
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    if (!gradients[0].defined()) return {{}, {}, {}};
    const auto saved = context->get_saved_variables();
    if (is_differentiated()) {
      const auto by_aten = [](const std::vector<at::Tensor>& in) {
        return std::vector<at::Tensor>{spatial_gate_reference(in[0], in[1], in[2])};
      };
      return differentiable_gradients(by_aten, {saved[0], saved[1], saved[2]}, gradients);
    }
    const auto format = channels_last_format(saved[0]);
    const at::Tensor rows = lying_densely(saved[0], format),
                     up = lying_densely(gradients[0], format);
    const at::Tensor gates = saved[1].contiguous(), weights = saved[2].contiguous();
    const SpatialGateShape shape = gate_shape(rows, gates, weights);
    const at::Tensor of_x = at::empty_like(rows, format), of_gates = at::empty_like(gates);
    const at::Tensor of_weight = at::empty_like(weights);
    const at::Tensor of_maps = at::empty_like(saved[3]), of_places = at::empty_like(saved[4]);
    const auto f32 = rows.options().dtype(at::kFloat);
    const at::Tensor partial =
        at::empty({shape.layout.rows, shape.layout.chunks, shape.layout.channels}, f32);
    const at::Tensor weight_partial = at::empty({spatial_gate_most_blocks, weights.numel()}, f32);
    attention_gate_kernels.gate_backward(
        {.shape = shape,
         .of_y = up.const_data_ptr(),
         .maps = saved[3].const_data_ptr<float>(),
         .places = saved[4].const_data_ptr<float>(),
         .of_places = of_places.mutable_data_ptr<float>(),
         .of_maps = of_maps.mutable_data_ptr<float>(),
         .of_x = of_x.mutable_data_ptr(),
         .of_channel_gate = of_gates.mutable_data_ptr(),
         .of_weight = of_weight.mutable_data_ptr(),
         .partial = partial.mutable_data_ptr<float>(),
         .weight_partial = weight_partial.mutable_data_ptr<float>()});
    return {of_x, of_gates, of_weight};
  }
};

}  // namespace

std::pair<at::Tensor, at::Tensor> mean_and_max_over_voxels_reference(const at::Tensor& x) {
  const auto dims = spatial_dimensions(x);
  return {x.mean(dims), x.amax(dims)};
}

std::pair<at::Tensor, at::Tensor> mean_and_max_over_voxels(const at::Tensor& x) {
  const PooledVoxels pooled = pool_voxels(x);
  return {pooled.mean, pooled.largest};
}

PooledVoxels pool_voxels(const at::Tensor& x) {
  check_gated("mean_and_max_over_voxels", x);
  if (attention_gate_kernels_serve(x)) {
    const auto all = VoxelPool::apply(x);
    return {all[0], all[1], all[2]};
  }
  const auto [mean, largest] = mean_and_max_over_voxels_reference(x);
  return {mean, largest, x};
}

at::Tensor spatial_gate_reference(const at::Tensor& x, const at::Tensor& channel_gate,
                                  const at::Tensor& weight) {
  std::vector<std::int64_t> beside(static_cast<std::size_t>(x.dim()), 1);
  beside[0] = x.size(0);
  beside[1] = x.size(1);
  const at::Tensor gated = x * channel_gate.to(x.scalar_type()).view(beside);
  const at::Tensor maps = at::cat({gated.mean(1, /*keepdim=*/true), gated.amax(1, true)}, 1);
  const at::Tensor weights = weight.to(x.scalar_type());
  const std::vector<std::int64_t> padding(static_cast<std::size_t>(x.dim() - 2),
                                          weight.size(2) / 2);
  const std::vector<std::int64_t> one(padding.size(), 1);
  const at::Tensor of_places = x.dim() == 4 ? at::conv2d(maps, weights, {}, one, padding)
                                            : at::conv3d(maps, weights, {}, one, padding);
  return gated * at::sigmoid(of_places);
}

at::Tensor spatial_gate(const at::Tensor& x, const at::Tensor& channel_gate,
                        const at::Tensor& weight) {
  check_spatial_gate(x, channel_gate, weight);
  if (!spatial_gate_kernels_serve(x)) return spatial_gate_reference(x, channel_gate, weight);
  // The kernels need all channels of a place next to each other.
  const at::Tensor y =
      SpatialGate::apply(x.contiguous(channels_last_format(x)), channel_gate, weight);
  return y.contiguous(x.suggest_memory_format());
}

void register_cuda_attention_gate(AttentionGateKernels kernels) {
  attention_gate_kernels = kernels;
}

}  // namespace lockstep
