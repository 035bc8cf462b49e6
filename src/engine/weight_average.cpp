// The moving average as one flat buffer.
#include "engine/weight_average.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/lerp.h>

namespace lockstep {

WeightAverage::WeightAverage(double decay, Arena& arena)
    : arena_(arena), decay_(decay), flat_(arena.master().clone()) {}

void WeightAverage::restart() {
  const at::NoGradGuard no_grad;
  flat_.copy_(arena_.master());
}

void WeightAverage::update(const at::Tensor& updates, const at::Tensor& skip) {
  const at::NoGradGuard no_grad;
  const at::Tensor way = at::clamp(updates.add(10).reciprocal().mul(9), 1 - decay_);
  flat_.lerp_(arena_.master(), way.mul(skip.neg().add(1))[0]);
}

ShownAverage::ShownAverage(WeightAverage* average) : average_(average) {
  if (average_ != nullptr) average_->arena().show(average_->flat());
}

ShownAverage::~ShownAverage() {
  if (average_ != nullptr) average_->arena().show_weights();
}

}  // namespace lockstep
