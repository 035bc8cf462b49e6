// Makes the model compute with other weights for a while, such as their average in an evaluation.
#pragma once

#include "training/parameters/parameter_storage.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// While an object exists, the model computes with other weights in place of its own. An object may
// exist only between steps, and works on the training stream. The storage must outlive it. In fp32,
// if the optimizer is not sharded, nothing is copied.
class ShownWeights {
 public:
  // weights: f32 [own_elements]. They must not change while this object exists. If the optimizer is
  // sharded, all ranks call the constructor together, because it gathers the other ranks' shards.
  // Throws CollectiveFailed if that fails.
  ShownWeights(ParameterStorage& storage, const at::Tensor& weights);
  // Makes the model compute with its own weights again. If the optimizer is sharded in bf16 or
  // fp16, all ranks call it together, because it gathers the working copy
  // (ParameterStorage::weights) again. Throws CollectiveFailed if that fails.
  void end();
  // If `end` was not called, the destructor restores only the weights that need no collective.
  // After an exception, the other ranks may never join a collective. If the optimizer is sharded in
  // bf16 or fp16, this rank's copy of the other ranks' shards keeps the shown values. So in this
  // case `end` must be called first, unless an exception is thrown. The destructor throws nothing.
  ~ShownWeights();
  ShownWeights(const ShownWeights&) = delete;
  ShownWeights& operator=(const ShownWeights&) = delete;

 private:
  ParameterStorage& storage_;
  int exceptions_;  // std::uncaught_exceptions() at construction
  bool ended_ = false;
};

}  // namespace lockstep
