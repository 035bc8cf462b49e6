// What is contiguous and on one GPU goes into the launches; the rest is copied by ATen.
#include "kernels/copy_all.h"

#include "base/check.h"

namespace lockstep {
namespace {

CopyKernel copy_kernel = nullptr;  // set once, before the first step

bool in_a_launch(const at::Tensor& to, const at::Tensor& from) {
  return copy_kernel != nullptr && to.is_cuda() && from.device() == to.device() &&
         from.scalar_type() == to.scalar_type() && to.is_contiguous() && from.is_contiguous();
}

}  // namespace

void copy_all(const Copies& copies) {
  CopyLaunch launch;
  const auto enqueue = [&] {
    if (launch.blocks > 0) copy_kernel(launch);
    launch = {};
  };
  for (const auto& [to, from] : copies) {
    LOCKSTEP_CHECK(to.sizes() == from.sizes());
    if (!in_a_launch(to, from)) {
      at::Tensor(to).copy_(from);
      continue;
    }
    const auto bytes = static_cast<std::int64_t>(to.nbytes());
    launch.ranges[launch.count++] = {.from = from.const_data_ptr(),
                                     .to = to.mutable_data_ptr(),
                                     .bytes = bytes,
                                     .blocks = launch.blocks};
    launch.blocks += (bytes + copy_block_bytes - 1) / copy_block_bytes;
    if (launch.count == most_copies) enqueue();
  }
  enqueue();
}

void register_cuda_copy(CopyKernel kernel) { copy_kernel = kernel; }

}  // namespace lockstep
