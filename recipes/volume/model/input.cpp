#include "recipes/volume/model/input.h"

#include "ops/augment/augment.h"
#include "ops/channels_last/channels_last.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/log.h>
#include <ATen/ops/rsub.h>

#include <numbers>

namespace lockstep::volume {
namespace {

// Layer numbers for StepContext::uniform.
constexpr std::int64_t value_layer = 0, noise_layer = 1;

at::Tensor per_row(const at::Tensor& numbers) { return numbers.view({-1, 1, 1, 1, 1}); }

at::Tensor with_gamma(const at::Tensor& x, const at::Tensor& exponents) {
  const at::Tensor low = x.amin({1, 2, 3, 4}, true), high = x.amax({1, 2, 3, 4}, true);
  const at::Tensor range = (high - low).clamp_min(1e-6);
  return ((x - low) / range).clamp(0, 1).pow(per_row(exponents)).mul(range).add(low);
}

// The Box-Muller transform, with two uniform draws per voxel.
at::Tensor normal_like(const at::Tensor& x, const StepContext& context) {
  const std::int64_t voxels = x.numel() / x.size(0);
  const at::Tensor draws = context.uniform(x.size(0), 2 * voxels, noise_layer);
  const at::Tensor radius = at::rsub(draws.narrow(1, 0, voxels), 1).log().mul(-2).sqrt();
  const at::Tensor angle = draws.narrow(1, voxels, voxels).mul(2 * std::numbers::pi);
  return radius.mul(angle.cos()).view(x.sizes());
}

}  // namespace

at::Tensor normalised(const at::Tensor& values, const at::Tensor& normals) {
  const auto column = [&](std::int64_t i) {
    return normals.select(2, i).view({values.size(0), values.size(1), 1, 1, 1});
  };
  return at::clamp(values.to(at::kFloat), column(0), column(1)).sub(column(2)).mul(column(3));
}

at::Tensor augmented(const at::Tensor& x, const ValueAugment& augment, const StepContext& context) {
  if (!context.training) return x;
  const at::Tensor draws = context.uniform(x.size(0), 4, value_layer);
  const auto factors = [&](std::int64_t draw, double share) {
    return between(draws.select(1, draw), 1 - share, 1 + share);
  };
  at::Tensor y = x;
  if (augment.gamma > 0) y = with_gamma(y, factors(2, augment.gamma));
  if (augment.brightness > 0) y = scale_brightness(y, factors(0, augment.brightness));
  if (augment.contrast > 0) y = scale_contrast(y, factors(1, augment.contrast));
  if (augment.noise > 0)
    y = y + normal_like(y, context).mul(per_row(draws.select(1, 3)).mul(augment.noise));
  return y;
}

at::Tensor network_input(const at::Tensor& x, at::ScalarType type) {
  return as_channels_last(x.to(type));
}

}  // namespace lockstep::volume
