// Captures the work of a function into a CUDA graph.
#pragma once

#include "backends/backend.h"

#include <functional>
#include <memory>

namespace lockstep {

// As Backend::capture. Allocations of `work` come from a private pool that all living graphs share.
// Memory that one graph has freed at its end may be used by the next, because graphs never run at
// the same time and their results (numbers, gradients) are held by others. Other threads may use
// the device meanwhile, also for the loader's pinned allocations. If it throws, the capture leaves
// nothing in torch's allocators and random generator, and Backend::release_cached_memory frees the
// pool's memory.
std::unique_ptr<Graph> capture_graph(const std::function<void()>& work);

}  // namespace lockstep
