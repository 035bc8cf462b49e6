// Marks GPUs as used by a training, so that batches of the same user see it.
#pragma once

#include <vector>

#include "core/base/files/fd.h"
#include "core/devices/device.h"

namespace lockstep::cli {

// The GPUs stay marked while the files are open. If a batch already has a GPU, prints that and
// continues. A job of a batch marks none, because its batch has done so. Never throws.
std::vector<UniqueFd> lease_for_training(const std::vector<Device>& devices);

}  // namespace lockstep::cli
