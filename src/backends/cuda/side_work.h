// Implements SideWork (ops/shared/side_work.h) on a CUDA stream.
#pragma once

#include "ops/shared/side_work.h"

#include <c10/cuda/CUDAStream.h>

#include <memory>

namespace lockstep {

// Side work runs on `side`, a stream of lower priority than the current stream. So its kernels use
// multiprocessors that kernels of the current stream leave free. Only one thread may call the
// result's functions at a time, always with the same current stream. The work can be captured if
// the current stream waits for it before the capture ends.
std::unique_ptr<SideWork> make_side_work(c10::cuda::CUDAStream side);

}  // namespace lockstep
