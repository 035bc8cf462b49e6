// Copies tensors to the host even when memory is short.
#pragma once

#include "backends/backend.h"

#include <memory>

namespace lockstep {

// Like Backend::download. If memory runs out, it frees caches and tries again. If that fails too,
// it copies into pageable memory, and the host waits for this copy. Throws what this last copy
// throws.
std::unique_ptr<Download> copy_to_host(Backend& backend, const at::Tensor& tensor);

// Wraps a tensor that is already on the host and does not change.
std::unique_ptr<Download> on_host(at::Tensor tensor);

}  // namespace lockstep
