// The buffer in which ranks reduce gradients in bf16.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"
#include "training/parameters/parameter_storage.h"
#include "training/plan/update_plan.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace lockstep {

// Does nothing before `allocate`. Without this buffer, gradients are reduced where they are added
// up.
class ReduceBuffer {
 public:
  // flat: f32 [elements], where gradients are added up. buffers: by parameter, those of `flat`. All
  // arguments outlive this object.
  ReduceBuffer(const ParameterStorage& storage, const at::Tensor& flat,
               const std::vector<std::shared_ptr<GradientBuffer>>& buffers);

  // Allocates bf16 [elements]. Call it before the first step.
  void allocate();
  const at::Tensor& flat() const { return reduced_; }  // undefined: not allocated
  // Rounds the gradients of these parameters into the buffer. Skips gradients that operations wrote
  // there directly.
  void round(const std::vector<std::size_t>& parameters) const;
  // Copies the sums of these parameters back to f32, unless the plan reads them in this buffer.
  void widen(const std::vector<std::size_t>& parameters, const UpdatePlan& plan) const;

 private:
  const ParameterStorage& storage_;
  const at::Tensor& summed_;  // f32
  const std::vector<std::shared_ptr<GradientBuffer>>& buffers_;
  at::Tensor reduced_;
};

}  // namespace lockstep
