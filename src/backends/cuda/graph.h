// Captures the work of a function into a CUDA graph.
#pragma once

#include "backends/backend.h"

#include <functional>
#include <memory>

namespace lockstep {

// As Backend::capture. Allocations of `work` come from a private pool that all living graphs share.
// The next graph may use memory that a graph has freed at its end. This is safe, because graphs
// never run at the same time, and other objects hold their results (step metrics, gradients). Other
// threads may use the device during a capture, also for the loader's pinned allocations. If the
// function throws, torch's allocators and random generator are as before, and
// Backend::release_cached_memory frees the pool's memory.
std::unique_ptr<Graph> capture_graph(const std::function<void()>& work);

}  // namespace lockstep
