// CUDA graphs of what a function enqueues.
#pragma once

#include "engine/backend.h"

#include <functional>
#include <memory>

namespace lockstep {

// As Backend::capture. What `work` allocates lives in a private pool that all living graphs share:
// what one has freed at its end, the next one may use, because they never run at the same time and
// what they hand out (numbers, gradients) is held by others. Other threads may go on using the
// device meanwhile, the loader's pinned allocations too. Where it throws, nothing of the capture is
// left in torch's allocators and random generator, and Backend::release_cached_memory frees what
// the pool had.
std::unique_ptr<Graph> capture_graph(const std::function<void()>& work);

}  // namespace lockstep
