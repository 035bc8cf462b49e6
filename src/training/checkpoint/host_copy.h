// Copies tensors to the host even when memory is short.
#pragma once

#include "backends/backend.h"

#include <memory>

namespace lockstep {

// Like Backend::download. If memory runs out, it frees caches and tries again, then copies into
// ordinary memory, for which the host waits. Throws what that throws.
std::unique_ptr<Download> copy_to_host(Backend& backend, const at::Tensor& tensor);

// Wraps a tensor that is already on the host and does not change.
std::unique_ptr<Download> on_host(at::Tensor tensor);

}  // namespace lockstep
