// Holds the bf16 buffer in which ranks reduce gradients, if they reduce in bf16.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"
#include "training/parameters/parameter_storage.h"
#include "training/plan/update_plan.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace lockstep {

// All functions do nothing before `allocate`. Without this buffer, ranks reduce the f32 gradients.
class ReduceBuffer {
 public:
  // flat: f32 [elements], where gradients are added up. buffers: the gradient buffer of each
  // parameter. All arguments must outlive this object.
  ReduceBuffer(const ParameterStorage& storage, const at::Tensor& flat,
               const std::vector<std::shared_ptr<GradientBuffer>>& buffers);

  // Allocates bf16 [elements]. Call it before the first step.
  void allocate();
  const at::Tensor& flat() const { return reduced_; }  // undefined before `allocate`
  // Rounds the gradients of these parameters from f32 into this buffer. Skips gradients that were
  // written into this buffer directly.
  void round(const std::vector<std::size_t>& parameters) const;
  // Copies the sums of these parameters from this buffer back to f32. Skips sums that the update
  // reads in this buffer (ParameterPlan::sum_in_reduce_buffer).
  void widen(const std::vector<std::size_t>& parameters, const UpdatePlan& plan) const;

 private:
  const ParameterStorage& storage_;
  const at::Tensor& summed_;  // f32
  const std::vector<std::shared_ptr<GradientBuffer>>& buffers_;
  at::Tensor reduced_;
};

}  // namespace lockstep
