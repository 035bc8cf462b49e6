// Implements SideWork (ops/shared/side_work.h) on a CUDA stream.
#pragma once

#include "ops/shared/side_work.h"

#include <c10/cuda/CUDAStream.h>

#include <memory>

namespace lockstep {

// Returns a SideWork that runs on `side`, a stream of lower priority than the current stream. So
// the kernels on `side` use only the multiprocessors that kernels of the current stream leave free.
// Only one thread may call the result's functions at a time, always with the same current stream.
// The work on `side` can be captured if the current stream waits for it before the capture ends.
std::unique_ptr<SideWork> make_side_work(c10::cuda::CUDAStream side);

}  // namespace lockstep
