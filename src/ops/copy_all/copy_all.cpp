// Copies tensors with equal strides on one GPU by our kernel, many in each launch. ATen copies the
// rest.
#include "ops/copy_all/copy_all.h"

#include "core/base/check.h"
#include "ops/shared/own_kernels.h"

#include <optional>

namespace lockstep {
namespace {

CopyKernel copy_kernel = nullptr;  // set once, before the first step

// Returns nothing if ATen must do the copy.
std::optional<CopyKind> kind_of(const at::Tensor& to, const at::Tensor& from) {
  if (copy_kernel == nullptr || !to.is_cuda() || from.device() != to.device() ||
      to.strides() != from.strides() || !to.is_non_overlapping_and_dense())
    return std::nullopt;
  if (from.scalar_type() == to.scalar_type()) return CopyKind::bytes;
  if (!aligned(to) || !aligned(from)) return std::nullopt;
  if (from.scalar_type() == at::kFloat && to.scalar_type() == at::kBFloat16)
    return CopyKind::to_bf16;
  if (to.scalar_type() != at::kFloat) return std::nullopt;
  if (from.scalar_type() == at::kBFloat16) return CopyKind::from_bf16;
  if (from.scalar_type() == at::kHalf) return CopyKind::from_f16;
  return std::nullopt;
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
    const auto kind = kind_of(to, from);
    if (!kind) {
      at::Tensor(to).copy_(from);
      continue;
    }
    const auto bytes = static_cast<std::int64_t>(from.nbytes());
    launch.ranges[launch.count++] = {.from = from.const_data_ptr(),
                                     .to = to.mutable_data_ptr(),
                                     .bytes = bytes,
                                     .blocks = launch.blocks,
                                     .kind = *kind};
    launch.blocks += (bytes + copy_block_bytes - 1) / copy_block_bytes;
    if (launch.count == most_copies) enqueue();
  }
  enqueue();
}

void register_cuda_copy(CopyKernel kernel) { copy_kernel = kernel; }

}  // namespace lockstep
