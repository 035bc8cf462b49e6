// Batch norm, ReLU and max pooling with overlapping windows, for images. Residual networks begin
// with this. The tensor before the pooling is never in memory, nor is its gradient.
#include "ops/batch_norm/batch_norm_parts.h"
#include "ops/batch_norm/batch_norm_paths.h"
#include "ops/pooling/sliding_windows.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"
#include "ops/shared/voxel_layout.h"
#include "ops/spatial/spatial_paths.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>

namespace lockstep {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

PooledNormKernels pooled_norm_kernels;  // set once, before the first step

// Saved tensors: those of the norm, the x of each maximum, and the place of each maximum in its
// window.
constexpr std::size_t saved_largest = Norm::saved_tensors, saved_places = saved_largest + 1;

SlidingPool pool_of(const at::Tensor& x, const std::vector<std::int64_t>& pool) {
  return sliding_pool_of(x.sizes(), x.scalar_type(), SlidingSides(pool[0], pool[1], pool[2]));
}

// A separate kernel finishes the sums of chunks, because the blocks of the next pass do not match
// these chunks.
VoxelLayout layout_of(const at::Tensor& dense) {
  VoxelLayout layout = whole_batch_layout(dense);
  layout.finished_by_readers = false;
  return layout;
}

struct PooledBatchNorm : torch::autograd::Function<PooledBatchNorm> {
  // weight, bias: as in NormAffine. pool: window, stride and padding.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::optional<at::Tensor>& weight,
                            const std::optional<at::Tensor>& bias, const BatchNormState& state,
                            const std::vector<std::int64_t>& pool, const NormRule& rule,
                            const ChannelMoments& known) {
    const auto format = at::MemoryFormat::ChannelsLast;
    const Norm norm(lying_densely(x, format), weight, bias);
    const VoxelLayout layout = layout_of(norm.rows);
    const at::Tensor partial = forward_partial(norm, layout, rule, known);
    const SlidingPool windows = pool_of(norm.rows, pool);
    const at::Tensor y =
        at::empty({windows.rows, windows.channels, windows.out_height, windows.out_width},
                  norm.rows.options().memory_format(format));
    at::Tensor largest, places;
    if (rule.keep) {
      largest = at::empty_like(y, format);
      places = at::empty(y.sizes(), y.options().dtype(at::kByte).memory_format(format));
    }
    PooledNormForward launch{.norm = norm_forward(norm, layout, state, rule, partial, known),
                             .pool = windows};
    launch.norm.y = y.mutable_data_ptr();
    if (rule.keep) {
      launch.largest = largest.mutable_data_ptr();
      launch.places = places.mutable_data_ptr<std::uint8_t>();
    }
    pooled_norm_kernels.forward(launch);
    variable_list saved = norm.saved_of(x);
    saved.insert(saved.end(), {largest, places});
    context->save_for_backward(saved);
    context->saved_data["given"] = rule.given;
    context->saved_data["eps"] = state.eps;
    context->saved_data["pool"] = pool;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor& of_y = gradients[0];
    variable_list result(7);
    if (!of_y.defined()) return result;
    const variable_list saved = context->get_saved_variables();
    const std::vector<std::int64_t> pool = context->saved_data["pool"].toIntVector();
    const bool given = context->saved_data["given"].toBool();
    const at::Tensor &largest = saved[saved_largest], &places = saved[saved_places];
    if (is_differentiated()) {
      const at::Tensor up =
          put_back(of_y, places, saved[0].sizes(), SlidingSides(pool[0], pool[1], pool[2]));
      differentiate_norm(saved, 0, up, given, /*relu=*/true, context->saved_data["eps"].toDouble(),
                         result, 0);
      return result;
    }
    const Norm norm(saved, 0);
    const at::Tensor up = lying_densely(of_y, at::MemoryFormat::ChannelsLast);
    NormGradients own(*context, norm, layout_of(up), given, 0);
    own.launch.of_y = up.const_data_ptr();
    own.launch.relu = true;
    pooled_norm_kernels.backward({.norm = own.launch,
                                  .pool = pool_of(norm.rows, pool),
                                  .largest = largest.const_data_ptr(),
                                  .places = places.const_data_ptr<std::uint8_t>()});
    own.give(result, 0);
    return result;
  }
};

}  // namespace

bool pooled_batch_norm_serves(const at::Tensor& x, const BatchNormState& state,
                              const AfterNorm& after) {
  const MaxPool& pool = *after.pool;
  return pooled_norm_kernels.forward != nullptr && x.dim() == 4 && after.relu &&
         !after.skip.defined() && norm_kernels_take(x, state) &&
         sliding_pool_serves(x, {pool.window, pool.window}, {pool.stride, pool.stride},
                             {pool.padding, pool.padding});
}

at::Tensor pooled_batch_norm(const at::Tensor& x, const BatchNormState& state, bool training,
                             const MaxPool& pool, const ChannelMoments& known) {
  const NormAffine own(state);
  return PooledBatchNorm::apply(x, if_defined(own.weight), if_defined(own.bias), state,
                                std::vector{pool.window, pool.stride, pool.padding},
                                NormRule(training, /*relu=*/true, {x, own.weight, own.bias}),
                                known);
}

void register_cuda_pooled_norm(PooledNormKernels kernels) { pooled_norm_kernels = kernels; }

}  // namespace lockstep
