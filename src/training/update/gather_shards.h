// The shards of a flat buffer on their way from each rank to all.
#pragma once

#include "training/parameters/parameter_storage.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Where the optimizer is sharded: gathers the other ranks' shards of flat [elements], in place. All
// ranks, after each wrote its own. Elsewhere does nothing. Throws CollectiveFailed.
void gather_shards(const ParameterStorage& storage, const at::Tensor& flat);

}  // namespace lockstep
