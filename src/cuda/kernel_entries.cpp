// Gives each kernel the current stream, and the engine the kernels.
#include "base/check.h"
#include "cuda/dropout_launch.h"
#include "cuda/kernels.h"
#include "cuda/stamp_launch.h"
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

void stamp_device_time(const at::Tensor& slot) {
  LOCKSTEP_CHECK(slot.is_cuda() && slot.scalar_type() == at::kDouble && slot.numel() == 1);
  C10_CUDA_CHECK(launch_stamp(slot.mutable_data_ptr<double>(), c10::cuda::getCurrentCUDAStream()));
}

bool register_kernels() {
  if (!dropout_runs_here()) return false;
  register_cuda_dropout(&run_dropout);
  return true;
}

}  // namespace lockstep
