// Gathers the shards of a flat buffer from all ranks, if the optimizer is sharded.
#pragma once

#include "training/parameters/parameter_storage.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Gathers the other ranks' shards of `flat` [elements], in place. All ranks call it, after each
// rank has written its own shards. Does nothing if the optimizer is not sharded. Throws
// CollectiveFailed if the collective fails.
void gather_shards(const ParameterStorage& storage, const at::Tensor& flat);

}  // namespace lockstep
