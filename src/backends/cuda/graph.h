// Captures the work of a function into a CUDA graph.
#pragma once

#include "backends/backend.h"

#include <functional>
#include <memory>

namespace lockstep {

// Implements Backend::capture. Memory that `work` allocates comes from a private pool, which all
// existing graphs share. A graph may use memory that an earlier graph freed at its end. This is
// safe for two reasons: graphs never run at the same time, and other objects hold the results of
// graphs (step metrics, gradients).
//
// Other threads may use the device during a capture, for example the loader for pinned memory. If
// `work` throws, torch's allocators and random generator are restored.
// Backend::release_cached_memory then frees the memory of the pool.
std::unique_ptr<Graph> capture_graph(const std::function<void()>& work);

}  // namespace lockstep
