// Fused operations over images and volumes beside their definitions, written out, for the tests on
// the CPU and on GPUs.
#pragma once

#include "fakes/fused_cases.h"
#include "fakes/spatial_cases.h"
#include "ops/attention_gate/attention_gate.h"
#include "ops/channel_norm/fused_norm.h"
#include "ops/mask_loss/mask_loss.h"

#include <ATen/ops/amax.h>
#include <ATen/ops/bernoulli.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/stack.h>

#include <optional>
#include <string>
#include <vector>

namespace lockstep::testing {

// Leaves, those of images and volumes channels-last or as they are.
inline Tensors leaves_of(const Tensors& inputs, bool last) {
  Tensors leaves;
  for (const at::Tensor& input : inputs) {
    const at::Tensor leaf =
        last && input.dim() > 3 ? input.contiguous(channels_last_of(input)) : input.clone();
    leaves.push_back(leaf.detach().requires_grad_());
  }
  return leaves;
}

// [B, C] beside [B, C, …].
inline at::Tensor beside(const at::Tensor& of_channels, const at::Tensor& x) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.dim()), 1);
  sizes[0] = x.size(0), sizes[1] = x.size(1);
  return of_channels.to(x.scalar_type()).view(sizes);
}

inline std::vector<std::int64_t> spatial_dimensions_of(const at::Tensor& x) {
  std::vector<std::int64_t> dims;
  for (std::int64_t dim = 2; dim < x.dim(); ++dim) dims.push_back(dim);
  return dims;
}

struct NormShape {
  std::vector<std::int64_t> sizes;
  bool scale = true, skip = true, relu = true;
  std::string name() const {
    return "instance_norm_act of " + std::to_string(sizes[1]) + " channels" +
           (scale ? ", scale" : "") + (skip ? ", skip" : "") + (relu ? ", relu" : "");
  }
};

// What norm_case compares with, before the ReLU.
inline at::Tensor normed(const Tensors& t, const at::Tensor& scale) {
  const auto dims = spatial_dimensions_of(t[0]);
  const at::Tensor centred = t[0] - t[0].mean(dims, true);
  at::Tensor y = centred / (centred.square().mean(dims, true) + 1e-5).sqrt();
  if (scale.defined()) y = y * beside(scale, y);
  return t.size() > 1 ? y + t[1] : y;
}

// inputs: x, and skip.
inline FusedCase norm_case(const NormShape& shape, const at::TensorOptions& options = {}) {
  // Channels of other means than 0, as a convolution makes them.
  const at::Tensor means = at::randn({shape.sizes[0], shape.sizes[1]}, options) / 2;
  const at::Tensor noise = at::randn(shape.sizes, options);
  Tensors inputs{noise + beside(means, noise)};
  if (shape.skip) inputs.push_back(at::randn(shape.sizes, options));
  // As dropout of channels leaves it.
  const at::Tensor kept = at::bernoulli(at::rand(means.sizes(), options), 0.8).div(0.8);
  const at::Tensor scale = shape.scale ? kept : at::Tensor();
  // Nothing so near to where the ReLU bends that roundings decide on which side it lies.
  const at::Tensor near = normed(inputs, scale).abs().lt(0.05);
  inputs.back() = inputs.back() + near * 0.15;
  const auto own = [=](const Tensors& t) {
    return instance_norm_act(t[0], scale, shape.skip ? t[1] : at::Tensor(), shape.relu);
  };
  const auto plain = [=](const Tensors& t) {
    return shape.relu ? at::relu(normed(t, scale)) : normed(t, scale);
  };
  return {shape.name(), inputs, own, plain};
}

// Each alone and all together, in two and three dimensions, in odd sizes.
inline std::vector<NormShape> norm_shapes() {
  std::vector<NormShape> all;
  for (const bool scale : {false, true})
    for (const bool skip : {false, true})
      for (const bool relu : {false, true}) all.push_back({{2, 16, 5, 7, 9}, scale, skip, relu});
  // Many blocks in a row; more channels than a block has threads, one by one and by eights.
  for (const std::vector<std::int64_t>& sizes :
       std::vector<std::vector<std::int64_t>>{{1, 33, 5, 7, 9},
                                              {3, 1, 4, 6, 2},
                                              {2, 24, 6, 5},
                                              {1, 7, 1, 5},
                                              {2, 16, 16, 24, 9},
                                              {1, 300, 3, 5},
                                              {1, 2064, 2, 3}})
    all.push_back({sizes});
  return all;
}

// inputs: x, which is used beside the pool too, and through it.
inline FusedCase through_case(const std::vector<std::int64_t>& sizes,
                              const std::vector<std::int64_t>& window,
                              const at::TensorOptions& options = {}) {
  const std::vector<std::int64_t> none(window.size(), 0);
  const auto join = [](const at::Tensor& x, const at::Tensor& largest) {
    // Half of the channels of something wider, as a concatenation gives gradients.
    const at::Tensor wide = at::cat({x, x.detach()}, 1);
    return at::cat({wide.square().flatten(), largest.square().flatten()});
  };
  return {"pool_windows over " + std::to_string(window.size()) + " dimensions",
          {at::randn(sizes, options)},
          [=](const Tensors& t) {
            const PooledWindows pooled = pool_windows(t[0], window);
            return join(pooled.x, pooled.largest);
          },
          [=](const Tensors& t) {
            return join(t[0], window.size() == 2 ? at::max_pool2d(t[0], window)
                                                 : max_pool_in_order(t[0], window, window, none));
          }};
}

// inputs: x, which is used beside the pool too.
inline FusedCase voxels_through_case(const std::vector<std::int64_t>& sizes,
                                     const at::TensorOptions& options = {}) {
  const auto join = [](const at::Tensor& x, const at::Tensor& mean, const at::Tensor& largest) {
    return x * beside(mean, x) + beside(largest, x);
  };
  return {"pool_voxels of " + std::to_string(sizes[1]) + " channels",
          {at::randn(sizes, options)},
          [=](const Tensors& t) {
            const PooledVoxels pooled = pool_voxels(t[0]);
            return join(pooled.x, pooled.mean, pooled.largest);
          },
          [=](const Tensors& t) {
            const auto dims = spatial_dimensions_of(t[0]);
            return join(t[0], t[0].mean(dims), at::amax(t[0], dims));
          }};
}

struct GateShape {
  std::vector<std::int64_t> sizes;
  std::int64_t k = 7;
  std::string name() const {
    return " of " + std::to_string(sizes[1]) + " channels in " + std::to_string(sizes.size() - 2) +
           " dimensions, k " + std::to_string(k);
  }
};

inline FusedCase pool_case(const GateShape& shape, const at::TensorOptions& options = {}) {
  return {"mean_and_max_over_voxels" + shape.name(),
          {at::randn(shape.sizes, options)},
          [](const Tensors& t) {
            const auto [mean, largest] = mean_and_max_over_voxels(t[0]);
            return at::stack({mean, largest});
          },
          [](const Tensors& t) {
            const auto dims = spatial_dimensions_of(t[0]);
            return at::stack({t[0].sum(dims) / (t[0].numel() / t[0].size(0) / t[0].size(1)),
                              at::amax(t[0], dims)});
          }};
}

// inputs: x, channel_gate, weight.
inline FusedCase gate_case(const GateShape& shape, const at::TensorOptions& options = {}) {
  std::vector<std::int64_t> window{1, 2};
  window.resize(shape.sizes.size(), shape.k);
  return {"spatial_gate" + shape.name(),
          {at::randn(shape.sizes, options), at::rand({shape.sizes[0], shape.sizes[1]}, options),
           at::randn(window, options) * 0.3},
          [](const Tensors& t) { return spatial_gate(t[0], t[1], t[2]); },
          [](const Tensors& t) {
            const at::Tensor u = t[0] * beside(t[1], t[0]);
            const at::Tensor maps = at::cat({u.sum(1, true) / u.size(1), at::amax(u, 1, true)}, 1);
            const std::vector<std::int64_t> padding(static_cast<std::size_t>(u.dim() - 2),
                                                    t[2].size(2) / 2);
            const std::vector<std::int64_t> one(padding.size(), 1), none(padding.size(), 0);
            const at::Tensor places =
                at::convolution(maps, t[2], {}, one, padding, one, false, none, 1);
            return u * at::sigmoid(places);
          }};
}

inline std::vector<GateShape> gate_shapes() {
  return {{{2, 16, 5, 7, 9}},
          {{1, 33, 9, 4, 11}, 5},
          {{2, 8, 3, 2, 1}, 3},
          {{2, 24, 11, 13}},
          {{1, 5, 1, 1, 6}, 1},
          {{3, 1, 7, 9}, 3},
          // Several tiles in each direction; channels that a thread takes in several parts.
          {{1, 8, 12, 20, 40}},
          {{1, 8, 70, 36}},
          {{1, 264, 3, 4}, 3},
          {{1, 1000, 2, 3}, 3},
          {{1, 100, 3, 4}, 1}};
}

// inputs: logits. The result is [3].
inline FusedCase mask_case(const std::vector<std::int64_t>& sizes, const MaskLossOptions& chosen,
                           const at::TensorOptions& options = {}) {
  std::vector<std::int64_t> places = sizes;
  places.erase(places.begin() + 1);
  const at::Tensor target = at::randint(3, places, options.dtype(at::kByte));
  if (sizes[0] > 1) target[1].fill_(chosen.ignore < 0 ? 0 : chosen.ignore);  // nothing counts
  const at::Tensor weights = at::rand({sizes[0]}, options) + 0.5;
  return {"mask_loss over " + std::to_string(sizes.size() - 2) + " dimensions, ignoring " +
              std::to_string(chosen.ignore),
          {at::randn(sizes, options) * 3},
          [=](const Tensors& t) {
            const auto sums = mask_loss(t[0], target, weights, chosen);
            return at::stack({sums[0], sums[1], sums[2]});
          },
          [=](const Tensors& t) {
            // Row by row, over the places that count alone.
            at::Tensor sums = at::zeros({3}, t[0].options());
            for (std::int64_t row = 0; row < sizes[0]; ++row) {
              const at::Tensor counts = target[row].flatten().ne(chosen.ignore);
              const at::Tensor logits = t[0][row].flatten().masked_select(counts);
              const at::Tensor y =
                  target[row].flatten().masked_select(counts).ne(0).to(t[0].scalar_type());
              if (logits.numel() == 0) continue;
              const at::Tensor p = at::sigmoid(logits);
              const at::Tensor dice =
                  1 - (2 * (p * y).sum() + chosen.smooth) / (p.sum() + y.sum() + chosen.smooth);
              const at::Tensor bce =
                  at::binary_cross_entropy_with_logits(logits, y, {}, {}, /*none=*/0);
              const at::Tensor right = p * y + (1 - p) * (1 - y);
              const at::Tensor alpha = chosen.focal_alpha * y + (1 - chosen.focal_alpha) * (1 - y);
              const at::Tensor focal = alpha * (1 - right).pow(chosen.focal_gamma) * bce;
              sums = sums + weights[row].to(t[0].scalar_type()) *
                                at::stack({dice, focal.sum(), bce.sum()});
            }
            return sums;
          }};
}

inline std::vector<FusedCase> gate_cases(const at::TensorOptions& options = {}) {
  std::vector<FusedCase> all;
  for (const NormShape& shape : norm_shapes()) all.push_back(norm_case(shape, options));
  for (const GateShape& shape : gate_shapes()) {
    all.push_back(pool_case(shape, options));
    all.push_back(gate_case(shape, options));
  }
  all.push_back(voxels_through_case({2, 16, 5, 7, 9}, options));
  all.push_back(voxels_through_case({2, 5, 8, 4}, options));
  all.push_back(through_case({2, 16, 4, 6, 8}, {2, 2, 2}, options));
  all.push_back(through_case({2, 8, 5, 7, 9}, {2, 2, 2}, options));
  all.push_back(through_case({1, 24, 3, 4, 5}, {1, 2, 2}, options));
  all.push_back(through_case({2, 16, 7, 6}, {2, 2}, options));
  all.push_back(through_case({2, 5, 4, 6, 8}, {2, 2, 2}, options));
  all.push_back(mask_case({3, 1, 5, 7, 9}, {}, options));
  all.push_back(mask_case({3, 1, 5, 7, 9}, {.ignore = 2}, options));
  all.push_back(mask_case({1, 1, 11, 3},
                          {.ignore = 0, .smooth = 0.1, .focal_alpha = 0.6, .focal_gamma = 1.5},
                          options));
  all.push_back(mask_case({2, 1, 8, 8}, {.focal_gamma = 0}, options));
  all.push_back(mask_case({2, 1, 30, 32, 20}, {.ignore = 2}, options));  // several blocks a row
  return all;
}

}  // namespace lockstep::testing
