// Makes the model compute with other weights for a while, such as their average in an evaluation.
#pragma once

#include "training/parameters/parameter_storage.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// While it exists, the model computes with other weights in place of its own. Between steps only,
// on the training stream. The storage outlives it. In fp32 without sharding nothing is copied.
class ShownWeights {
 public:
  // weights: f32 [own_elements]. They must not change while this object exists. If the optimizer is
  // sharded, all ranks construct it together, because it gathers the other ranks' shards. Throws
  // CollectiveFailed.
  ShownWeights(ParameterStorage& storage, const at::Tensor& weights);
  // Makes the model compute with its own weights again. If the optimizer is sharded and the
  // precision is low, all ranks call it together, because it gathers the working copy again. Throws
  // CollectiveFailed.
  void end();
  // Without `end`, for example after an exception, it restores only what needs no other rank,
  // because the others may never come. So with a sharded optimizer in low precision, the other
  // ranks' shards of the working copy keep the shown values. In this case `end` must come first,
  // unless there is an exception. Throws nothing.
  ~ShownWeights();
  ShownWeights(const ShownWeights&) = delete;
  ShownWeights& operator=(const ShownWeights&) = delete;

 private:
  ParameterStorage& storage_;
  int exceptions_;  // number in flight at construction
  bool ended_ = false;
};

}  // namespace lockstep
