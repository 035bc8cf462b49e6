// Makes the model compute with other weights for a while, such as their average in an evaluation.
#pragma once

#include "training/parameters/parameter_storage.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// While it exists, the model computes with other weights in place of its own. It may exist only
// between steps, and works on the training stream. The storage must outlive it. Nothing is copied
// in fp32 without sharding.
class ShownWeights {
 public:
  // weights: f32 [own_elements]. They must not change while this object exists. If the optimizer is
  // sharded, all ranks call the constructor together, because it gathers the other ranks' shards.
  // Throws CollectiveFailed.
  ShownWeights(ParameterStorage& storage, const at::Tensor& weights);
  // Makes the model compute with its own weights again. If the optimizer is sharded in low
  // precision, all ranks call it together, because it gathers the working copy again. Throws
  // CollectiveFailed.
  void end();
  // If `end` was not called, the destructor restores this rank's shards without any collective. If
  // the optimizer is sharded in low precision, the other ranks' shards of the working copy keep the
  // shown values. So in this case call `end` first, unless an exception is thrown. Throws nothing.
  ~ShownWeights();
  ShownWeights(const ShownWeights&) = delete;
  ShownWeights& operator=(const ShownWeights&) = delete;

 private:
  ParameterStorage& storage_;
  int exceptions_;  // std::uncaught_exceptions() at construction
  bool ended_ = false;
};

}  // namespace lockstep
