#include "kernels/side_work.h"

namespace lockstep {

std::int64_t bytes_of(at::TensorList tensors) {
  std::int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

void run_beside(SideWork* side, const std::vector<at::Tensor>& read,
                const std::function<void()>& work) {
  if (side == nullptr)
    work();
  else
    side->run(read, work);
}

}  // namespace lockstep
