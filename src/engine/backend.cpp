// What follows from the interface alone.
#include "engine/backend.h"

namespace lockstep {

std::function<at::Tensor(at::Tensor)> pin_for(Backend& backend) {
  if (backend.device().is_cpu()) return {};
  return [&backend](const at::Tensor& tensor) {
    at::Tensor pinned = backend.host_empty(tensor.sizes(), tensor.scalar_type());
    pinned.copy_(tensor);
    return pinned;
  };
}

}  // namespace lockstep
