// Marks GPUs as used by a training. Batches of the same user then do not use them.
#pragma once

#include <vector>

#include "core/base/files/fd.h"
#include "core/devices/device.h"

namespace lockstep::cli {

// Returns open files; the GPUs stay marked while these files are open. If a batch already uses a
// GPU, prints a warning and continues. A job of a batch marks nothing, because its batch has done
// so. Never throws.
std::vector<UniqueFd> lease_for_training(const std::vector<Device>& devices);

}  // namespace lockstep::cli
