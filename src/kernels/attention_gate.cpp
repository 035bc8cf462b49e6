// Gates over channels and places, in ATen's operators.
#include "kernels/attention_gate.h"

#include "base/error.h"
#include "base/text.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/sigmoid.h>

#include <vector>

namespace lockstep {
namespace {

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

}  // namespace

std::pair<at::Tensor, at::Tensor> mean_and_max_over_voxels_reference(const at::Tensor& x) {
  const auto dims = spatial_dimensions(x);
  return {x.mean(dims), x.amax(dims)};
}

std::pair<at::Tensor, at::Tensor> mean_and_max_over_voxels(const at::Tensor& x) {
  check_gated("mean_and_max_over_voxels", x);
  return mean_and_max_over_voxels_reference(x);
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
  return spatial_gate_reference(x, channel_gate, weight);
}

}  // namespace lockstep
