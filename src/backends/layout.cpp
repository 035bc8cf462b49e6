#include "backends/layout.h"

#include <algorithm>

namespace lockstep {

std::vector<std::int64_t> dense_strides(const at::Tensor& tensor) {
  if (tensor.is_non_overlapping_and_dense()) return tensor.strides().vec();
  std::vector<std::int64_t> strides(static_cast<std::size_t>(tensor.dim()));
  std::int64_t next = 1;
  for (std::int64_t d = tensor.dim(); d-- > 0;) {
    strides[static_cast<std::size_t>(d)] = next;
    next *= std::max<std::int64_t>(tensor.size(d), 1);
  }
  return strides;
}

at::Tensor view_as(const at::Tensor& row, at::IntArrayRef sizes, at::IntArrayRef strides) {
  return row.as_strided(sizes, strides, row.storage_offset());
}

at::Tensor memory_order(const at::Tensor& tensor) {
  if (!tensor.is_non_overlapping_and_dense()) return tensor.contiguous().view({-1});
  return tensor.as_strided({tensor.numel()}, {1}, tensor.storage_offset());
}

at::Tensor pinned_copy(Backend& backend, const at::Tensor& tensor) {
  if (backend.device().is_cpu() || tensor.is_pinned()) return tensor;
  const at::Tensor row = backend.host_empty({tensor.numel()}, tensor.scalar_type());
  const at::Tensor copy = view_as(row, tensor.sizes(), dense_strides(tensor));
  copy.copy_(tensor);
  return copy;
}

}  // namespace lockstep
