// Marks GPUs as used by a training, for batches of the same user.
#pragma once

#include <vector>

#include "core/base/files/fd.h"
#include "core/devices/device.h"

namespace lockstep::cli {

// Held while the files are open. If a batch already has a GPU, it prints that and continues. A job
// of a batch takes none, because its batch has. Never throws.
std::vector<UniqueFd> lease_for_training(const std::vector<Device>& devices);

}  // namespace lockstep::cli
