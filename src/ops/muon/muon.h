// Gives access to our kernels for the elementwise parts of the Muon optimizer.
#pragma once

#include "ops/muon/muon_arguments.h"

namespace lockstep {

// All functions run on the current stream. If *arguments.skip is not 0, they change neither weights
// nor momentum.
struct MuonKernels {
  // Adds the gradients to the momentum. Writes the update, and the sums of the update's squares.
  void (*momentum)(const MuonArguments&) = nullptr;
  // Divides each matrix of the update by its norm.
  void (*scale)(const MuonArguments&) = nullptr;
  // Decays the weights, adds the update to them, and writes their low-precision copy.
  void (*weights)(const MuonArguments&) = nullptr;
};
// Returns null functions on the CPU and in builds without our kernels. Callers then use ATen.
const MuonKernels& cuda_muon();
void register_cuda_muon(const MuonKernels& kernels);

}  // namespace lockstep
