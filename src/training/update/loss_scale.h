// The factor on the loss in the backward pass, so that small gradients do not become 0 in fp16.
#pragma once

#include "planning/options/train_options.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// 1 unless the precision is fp16. It halves after a step whose gradient is not finite, and doubles
// after 2,000 steps with finite gradients. The device decides this.
class LossScale {
 public:
  LossScale(Precision precision, at::Device device);

  const at::Tensor& value() const { return value_; }    // f32 [1]
  const at::Tensor& growth() const { return growth_; }  // i32 [1]: steps since it last changed
  void restart();                                       // as at the start of a run
  // Finds what `apply` will change. skip: f32 [1], 1 where the gradient is not finite. dropped: f64
  // [1], above 0 if this step says nothing about the scale; may be undefined. Allocates.
  void find_next(const at::Tensor& skip, const at::Tensor& dropped);
  void apply();
  // f32 [1]: 1 if `skip` is 1 and a smaller scale would not help.
  at::Tensor not_finite(const at::Tensor& skip) const;

 private:
  bool scales_;
  at::Tensor value_, growth_, next_value_, next_growth_;
};

}  // namespace lockstep
