#include "training/step/library_modes.h"

#include <ATen/Context.h>

#include <cstdlib>

namespace lockstep {
namespace {

void forbid_unordered_sums() {
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  // filling memory only helps to find errors
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

// One setting for all fp32 operations. LibTorch's default rounds convolutions to TF32, but not
// matrix products.
void use_tf32(bool wanted) {
  at::globalContext().setAllowTF32CuBLAS(wanted);
  at::globalContext().setAllowTF32CuDNN(wanted);
}

}  // namespace

void set_library_modes(const TrainOptions& options) {
  const bool same_bits = options.deterministic || options.exact;
  if (same_bits) forbid_unordered_sums();
  use_tf32(options.matmul.tf32);
  // With the search for fast algorithms, two runs may choose different ones, and so round
  // differently.
  at::globalContext().setBenchmarkCuDNN(!same_bits && options.graph == GraphMode::automatic);
}

void take_the_same_algorithms_everywhere() {
  at::globalContext().setBenchmarkCuDNN(false);
  at::globalContext().setDeterministicCuDNN(true);
  // Products are then not measured. An operator without a deterministic version is still allowed.
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

void stop_trying_out_convolutions() { at::globalContext().setBenchmarkCuDNN(false); }

}  // namespace lockstep
