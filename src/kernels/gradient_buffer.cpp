// A table by the identity of the parameter.
#include "kernels/gradient_buffer.h"

#include "base/check.h"

#include <mutex>
#include <unordered_map>

namespace lockstep {
namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<const at::TensorImpl*, at::Tensor> buffers;
};

// Never destroyed: models may outlive static objects.
Table& table() {
  static Table* const all = new Table;
  return *all;
}

}  // namespace

void set_gradient_buffer(const at::Tensor& parameter, const at::Tensor& buffer) {
  LOCKSTEP_CHECK(buffer.scalar_type() == at::kFloat && buffer.is_contiguous());
  LOCKSTEP_CHECK(buffer.sizes() == parameter.sizes());
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  all.buffers[parameter.unsafeGetTensorImpl()] = buffer;
}

void forget_gradient_buffer(const at::Tensor& parameter) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  all.buffers.erase(parameter.unsafeGetTensorImpl());
}

at::Tensor gradient_buffer(const at::Tensor& parameter) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const auto found = all.buffers.find(parameter.unsafeGetTensorImpl());
  return found == all.buffers.end() ? at::Tensor() : found->second;
}

}  // namespace lockstep
