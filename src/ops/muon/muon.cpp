// The registered kernels.
#include "ops/muon/muon.h"

namespace lockstep {
namespace {

MuonKernels kernels_in_use;  // set once, before the first step

}  // namespace

const MuonKernels& cuda_muon() { return kernels_in_use; }
void register_cuda_muon(const MuonKernels& kernels) { kernels_in_use = kernels; }

}  // namespace lockstep
