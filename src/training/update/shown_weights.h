// The model computes with other weights for a while, such as their average in an evaluation.
#pragma once

#include "training/parameters/parameter_storage.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// While it lives the model computes with other weights in place of its own. Between steps only, on
// the training stream; the storage outlives it. In fp32 without sharding nothing is copied.
class ShownWeights {
 public:
  // weights: f32 [own_elements], unchanged meanwhile. Where the optimizer is sharded all ranks make
  // one together, because the other ranks' shards are gathered. Throws CollectiveFailed.
  ShownWeights(ParameterStorage& storage, const at::Tensor& weights);
  // The model computes with its own weights again. Sharded in low precision all ranks call it
  // together, because the working copy is gathered anew. Throws CollectiveFailed.
  void end();
  // Without `end`, as where an exception passes, it does what needs no other rank: those may never
  // come. So in low precision the other ranks' shards of the working copy stay as they were shown.
  // Without an exception `end` must come first there. Throws nothing.
  ~ShownWeights();
  ShownWeights(const ShownWeights&) = delete;
  ShownWeights& operator=(const ShownWeights&) = delete;

 private:
  ParameterStorage& storage_;
  int exceptions_;  // under way when it began
  bool ended_ = false;
};

}  // namespace lockstep
