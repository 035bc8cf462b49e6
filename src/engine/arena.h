// The parameter arena: all parameters, gradients and optimizer state of a model as flat buffers.
#pragma once

#include "engine/recipe.h"
#include "plan/buckets.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// Takes a freshly built model's parameters (fp32, CPU) and makes them views into flat buffers on
// the device, laid out by plan/buckets.h. Afterwards Parameter::tensor handles are:
//  compute dtype fp32: views of `master`, whose .grad are views of `gradients`;
//  bf16, fp16: views of `working`, a copy of `master` that `refresh_working` makes; gradients of
//  that dtype are added into the fp32 `gradients` as they appear and dropped.
// Operations that know kernels/gradient_buffer.h write into `gradients` themselves.
// Owns the buffers; the model keeps the handles. One thread, on the training stream.
class Arena {
 public:
  Arena(std::vector<Parameter> parameters, at::Device device, at::ScalarType compute_dtype);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  const std::vector<Parameter>& parameters() const { return parameters_; }
  const ArenaLayout& layout() const { return layout_; }
  const std::vector<std::int64_t>& sizes() const { return sizes_; }
  bool low_precision() const { return working_.defined(); }

  at::Tensor& master() { return master_; }        // f32 [elements]; padding between parameters is 0
  at::Tensor& gradients() { return gradients_; }  // f32 [elements]
  const at::Tensor& working() const { return working_; }  // undefined in fp32
  // The part of a flat buffer that parameter i fills, in its shape.
  at::Tensor view(const at::Tensor& flat, std::size_t i) const;

  void zero_gradients();
  // Called once all of a backward pass that concerns parameter i is done. Low precision: adds what
  // arrived in .grad into `gradients` and drops it.
  void take_gradient(std::size_t i);
  void refresh_working();  // after the master weights changed; nothing in fp32

  // The model computes with other weights, f32 [elements], instead of its own, until
  // `show_weights`. Between steps only; no copy in fp32.
  void show(const at::Tensor& flat);
  void show_weights();

 private:
  std::vector<Parameter> parameters_;
  std::vector<std::int64_t> sizes_;
  ArenaLayout layout_;
  at::Tensor master_, gradients_, working_;
};

}  // namespace lockstep
