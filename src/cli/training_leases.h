// A training's word to batches of the same user: these GPUs are in use.
#pragma once

#include <vector>

#include "base/fd.h"
#include "devices/device.h"

namespace lockstep::cli {

// Held for as long as the files are open. Where a batch has a GPU already it says so, and goes on;
// a job of a batch takes none, because its batch has. Never throws.
std::vector<UniqueFd> lease_for_training(const std::vector<Device>& devices);

}  // namespace lockstep::cli
