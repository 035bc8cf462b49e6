// Captures the work of a function into a CUDA graph.
#pragma once

#include "backends/backend.h"

#include <functional>
#include <memory>

namespace lockstep {

// Implements Backend::capture. Memory that `work` allocates comes from a private memory pool, which
// all existing graphs share. A graph may use memory of the pool that the capture of an earlier
// graph freed. This is safe for two reasons: graphs never run at the same time, and other objects
// hold the results of graphs (step metrics, gradients).
//
// Other threads may use the device during a capture. For example, the loader may allocate pinned
// memory. If `work` throws, torch's allocators and random generator leave the mode of the capture.
// Backend::release_cached_memory can then free the memory that the failed capture allocated.
std::unique_ptr<Graph> capture_graph(const std::function<void()>& work);

}  // namespace lockstep
