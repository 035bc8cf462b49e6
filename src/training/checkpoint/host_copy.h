// Copies tensors to the host even when memory is short.
#pragma once

#include "backends/backend.h"

#include <memory>

namespace lockstep {

// Starts a copy to the host as Backend::download does. If memory runs out, the function frees
// cached memory and tries again. If memory runs out again, it copies into pageable memory and waits
// for this copy. Exceptions of this copy are not caught.
std::unique_ptr<Download> copy_to_host(Backend& backend, const at::Tensor& tensor);

// Returns a finished Download for a tensor that is already on the host. The tensor must not change.
std::unique_ptr<Download> on_host(at::Tensor tensor);

}  // namespace lockstep
