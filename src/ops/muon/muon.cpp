// Holds the registered kernels.
#include "ops/muon/muon.h"

namespace lockstep {
namespace {

MuonKernels muon_kernels;  // set once, before the first step

}  // namespace

const MuonKernels& cuda_muon() { return muon_kernels; }
void register_cuda_muon(const MuonKernels& kernels) { muon_kernels = kernels; }

}  // namespace lockstep
