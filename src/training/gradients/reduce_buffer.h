// The buffer in which ranks reduce gradients in bf16, and the choice whose sums are read there.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"
#include "training/parameters/parameter_storage.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace lockstep {

// Does nothing until `allocate`: then gradients are reduced where they are added up.
class ReduceBuffer {
 public:
  // flat: f32 [elements], where gradients are added up. buffers: by parameter, of `flat`. All
  // outlive it.
  ReduceBuffer(const ParameterStorage& storage, const at::Tensor& flat,
               const std::vector<std::shared_ptr<GradientBuffer>>& buffers);

  // Before the first step: bf16 [elements].
  void allocate();
  const at::Tensor& flat() const { return reduced_; }  // undefined: not allocated
  // Before the first step: norm and update can read sums in bf16, so that they need not be copied
  // back to f32.
  void leave_sums() { may_leave_ = true; }
  // After the first step whose backward passes all ran to their end; later calls do nothing.
  // Decides which parameters' sums stay here. Those of large sparse parameters do not, because
  // RowExchange adds rows up in f32.
  void choose();
  bool leaves_sums() const { return !leaves_.empty(); }
  bool leaves_sum_of(std::size_t i) const { return leaves_sums() && leaves_[i]; }
  // Rounds these parameters' gradients into it, but those that were written there at once.
  void round(const std::vector<std::size_t>& parameters) const;
  // Copies these parameters' sums back to f32, unless they stay here.
  void widen(const std::vector<std::size_t>& parameters) const;

 private:
  const ParameterStorage& storage_;
  const at::Tensor& summed_;  // f32
  const std::vector<std::shared_ptr<GradientBuffer>>& buffers_;
  at::Tensor reduced_;
  bool may_leave_ = false;
  std::vector<bool> leaves_;  // by parameter; empty: not decided yet
};

}  // namespace lockstep
