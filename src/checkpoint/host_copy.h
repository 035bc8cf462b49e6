// Copies of tensors to the host that also come about where memory is short.
#pragma once

#include "engine/backend.h"

#include <memory>

namespace lockstep {

// As Backend::download. Where memory runs out for that, frees what is only kept for later and tries
// again, and then copies into ordinary memory, for which the host waits. Throws what that throws.
std::unique_ptr<Download> copy_to_host(Backend& backend, const at::Tensor& tensor);

// A tensor that is on the host already, and stays as it is.
std::unique_ptr<Download> on_host(at::Tensor tensor);

}  // namespace lockstep
