#include "ops/shared/side_work.h"

namespace lockstep {

std::int64_t bytes_of(at::TensorList tensors) {
  std::int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

}  // namespace lockstep
