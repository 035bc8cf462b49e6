// Gives the dropout kernel the current stream, and the engine the kernel.
#include "base/check.h"
#include "cuda/dropout_launch.h"
#include "cuda/kernels.h"
#include "kernels/dropout.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

namespace lockstep {
namespace {

DropoutDtype dtype_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return DropoutDtype::f32;
    case at::kBFloat16:
      return DropoutDtype::bf16;
    default:
      LOCKSTEP_CHECK(type == at::kHalf);
      return DropoutDtype::f16;
  }
}

void run_dropout(const DropoutArguments& arguments) {
  const DropoutLaunch launch{.x = arguments.x,
                             .y = arguments.y,
                             .dtype = dtype_of(arguments.dtype),
                             .rows = arguments.rows,
                             .row_elements = arguments.row_elements,
                             .rule = dropout_rule(arguments.p),
                             .counters = arguments.counters,
                             .layer = arguments.layer};
  C10_CUDA_CHECK(launch_dropout(launch, c10::cuda::getCurrentCUDAStream()));
}

}  // namespace

bool register_kernels() {
  if (!dropout_runs_here()) return false;
  register_cuda_dropout(&run_dropout);
  return true;
}

}  // namespace lockstep
