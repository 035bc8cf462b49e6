// Work on a side stream.
#pragma once

#include "ops/shared/side_work.h"

#include <c10/cuda/CUDAStream.h>

#include <memory>

namespace lockstep {

// side: a stream of low priority, so that its kernels use only the multiprocessors that kernels of
// the current stream leave free. Only one thread may call at a time, always with the same current
// stream. The work can be captured if the current stream waits for it before the capture ends.
std::unique_ptr<SideWork> make_side_work(c10::cuda::CUDAStream side);

}  // namespace lockstep
