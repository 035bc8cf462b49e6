// Sends the shards of a flat buffer from each rank to all ranks.
#pragma once

#include "training/parameters/parameter_storage.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// If the optimizer is sharded: gathers the other ranks' shards of flat [elements], in place. All
// ranks call it after each wrote its own shards. Otherwise does nothing. Throws CollectiveFailed.
void gather_shards(const ParameterStorage& storage, const at::Tensor& flat);

}  // namespace lockstep
