#include "training/gradients/gradient_norm.h"

#include "core/base/check.h"
#include "training/distributed/process_group.h"

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

namespace lockstep {
namespace {

at::Tensor norm_in_f32(const at::Tensor& sums) {
  return at::linalg_vector_norm(sums, 2, at::OptionalIntArrayRef(), false, at::kFloat);
}

}  // namespace

void GradientNorm::add(const at::Tensor& range, bool now) {
  ranges_.push_back({.sums = range, .norm = now ? norm_in_f32(range) : at::Tensor()});
}

void GradientNorm::forget() {
  found_ = false;
  ranges_.clear();
}

void GradientNorm::find_from_ranges(const at::Tensor& norm) const {
  std::vector<at::Tensor> norms;
  for (const auto& [sums, found] : ranges_)
    norms.push_back(found.defined() ? found : norm_in_f32(sums));
  at::Tensor out = norm;
  at::linalg_vector_norm_out(out, at::stack(norms));
}

// Adds up the squares of all ranks, because each rank has only the sums of its own shards.
void GradientNorm::find_from_shards(const at::Tensor& norm) const {
  const ParameterStorage& storage = gradients_.storage();
  // with a shared update, all parameters have the same sums
  const at::Tensor& sums = gradients_.sums_of(0);
  std::vector<at::Tensor> shards;
  for (const Shard& shard : storage.own())
    shards.push_back(storage.range(sums, shard, shard.begin, shard.end));
  const at::Tensor squares =
      at::stack(at::_foreach_norm(shards, 2, at::kFloat)).to(at::kDouble).square().sum();
  storage.sharing()->all_reduce(squares)->wait();
  // In place, because nothing after the all-reduce may run out of memory.
  norm.copy_(at::Tensor(squares).sqrt_());
}

void GradientNorm::find(const at::Tensor& norm) {
  if (found_) return;
  if (!ranges_.empty()) {
    find_from_ranges(norm);
  } else if (gradients_.storage().sharing() != nullptr) {
    find_from_shards(norm);
  } else {
    // with a plan that reads the reduce buffer, ranges are added one by one
    LOCKSTEP_CHECK(!gradients_.plan().reads_reduce_buffer());
    at::Tensor out = norm;
    at::linalg_vector_norm_out(out, gradients_.flat());
  }
  found_ = true;
}

}  // namespace lockstep
