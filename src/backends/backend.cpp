// Functions that need only the interface of a backend.
#include "backends/backend.h"

#include "backends/layout.h"

namespace lockstep {

std::function<at::Tensor(at::Tensor)> pin_for(Backend& backend) {
  if (backend.device().is_cpu()) return {};
  return [&backend](const at::Tensor& tensor) { return pinned_copy(backend, tensor); };
}

}  // namespace lockstep
