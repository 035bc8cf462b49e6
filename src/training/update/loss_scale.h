// Keeps the loss scale: a factor on the loss in backward, so that small gradients do not become 0
// in fp16.
#pragma once

#include "planning/options/train_options.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// The scale is 1 unless the precision is fp16. In fp16 it begins at 65536. It halves after a step
// whose gradient is not finite, but never falls below 1. It doubles after 2,000 steps in a row with
// finite gradients. All of this is computed on the device.
class LossScale {
 public:
  LossScale(Precision precision, at::Device device);

  const at::Tensor& value() const { return value_; }  // f32 [1]
  // i32 [1], the number of steps with finite gradients since the scale last changed.
  const at::Tensor& growth() const { return growth_; }
  void restart();  // sets the scale to its value at the start of a run
  // Computes the next scale, which `apply` then sets. Allocates memory.
  //   skip: f32 [1], 1 if the gradient is not finite
  //   dropped: f64 [1], may be undefined; if it is above 0, the scale does not change
  void find_next(const at::Tensor& skip, const at::Tensor& dropped);
  void apply();
  // Returns f32 [1]: 1 if `skip` is 1 and the scale is at its minimum of 1, else 0.
  at::Tensor not_finite(const at::Tensor& skip) const;

 private:
  bool scales_;
  at::Tensor value_, growth_, next_value_, next_growth_;
};

}  // namespace lockstep
