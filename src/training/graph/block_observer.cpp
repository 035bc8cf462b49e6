#include "training/graph/block_observer.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <utility>

namespace lockstep {

std::vector<std::int64_t> BlockObserver::count_uses() const {
  std::vector<std::int64_t> uses;
  for (const ParameterPlace& place : storage_.places()) {
    uses.push_back(0);
    for (const at::Tensor& handle : place.handles)
      uses.back() += torch::autograd::impl::try_get_grad_accumulator(handle).use_count();
  }
  return uses;
}

void BlockObserver::begin_forward() {
  if (!uses_.empty()) return;
  uses_ = count_uses();
  use_.is_early.assign(uses_.size(), false);
}

void BlockObserver::see(std::int64_t block, const std::vector<at::Tensor>& parameters) {
  if (std::find(use_.blocks.begin(), use_.blocks.end(), block) != use_.blocks.end()) return;
  const std::vector<std::int64_t> now = count_uses();
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] > uses_[i]) use_.is_early[i] = true;
    for (const at::Tensor& handle : storage_.places()[i].handles)
      for (const at::Tensor& parameter : parameters)
        if (handle.is_same(parameter)) own.push_back(i);
  }
  use_.blocks.push_back(block);
  use_.parameters.push_back(std::move(own));
}

}  // namespace lockstep
