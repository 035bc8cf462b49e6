// Work on a side stream.
#pragma once

#include "ops/shared/side_work.h"

#include <c10/cuda/CUDAStream.h>

#include <memory>

namespace lockstep {

// side: of low priority, so that its kernels use only what those of the current stream leave. Only
// one thread may call at a time, always with the same current stream. Can be captured, if it is
// waited for before the capture ends.
std::unique_ptr<SideWork> make_side_work(c10::cuda::CUDAStream side);

}  // namespace lockstep
