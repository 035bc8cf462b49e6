#include "training/update/loss_scale.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <cstdint>

namespace lockstep {
namespace {

constexpr double initial_value = 65536;
constexpr double growth_factor = 2, backoff = 0.5;
constexpr std::int64_t growth_interval = 2000;  // steps without overflow until the scale doubles

}  // namespace

LossScale::LossScale(Precision precision, at::Device device)
    : scales_(precision == Precision::fp16) {
  const at::NoGradGuard no_grad;
  value_ = at::zeros({1}, at::TensorOptions().dtype(at::kFloat).device(device));
  growth_ = at::zeros({1}, value_.options().dtype(at::kInt));
  next_value_ = at::zeros_like(value_);
  next_growth_ = at::zeros_like(growth_);
  restart();
}

void LossScale::restart() {
  const at::NoGradGuard no_grad;
  value_.fill_(scales_ ? initial_value : 1.0);
  growth_.zero_();
}

void LossScale::find_next(const at::Tensor& skip, const at::Tensor& dropped) {
  if (!scales_) return;
  next_value_.copy_(value_);
  next_growth_.copy_(growth_);
  at::Tensor value = next_value_[0], growth = next_growth_[0], not_finite = skip[0];
  at::_amp_update_scale_(value, growth, not_finite, growth_factor, backoff, growth_interval);
  next_value_.clamp_min_(1);  // below 1, gradients vanish, and the scale could not grow again
  if (!dropped.defined()) return;
  const at::Tensor keep = dropped.gt(0);
  next_value_.copy_(at::where(keep, value_, next_value_));
  next_growth_.copy_(at::where(keep, growth_, next_growth_));
}

void LossScale::apply() {
  if (!scales_) return;
  value_.copy_(next_value_);
  growth_.copy_(next_growth_);
}

at::Tensor LossScale::not_finite(const at::Tensor& skip) const {
  return scales_ ? skip.mul(value_.le(1)) : skip;
}

}  // namespace lockstep
