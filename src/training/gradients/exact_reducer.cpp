// Sums gradients in exact mode: the carry chain on buffers, the exchange of shards, the final sums.
#include "training/gradients/exact_reducer.h"

#include "core/base/check.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <utility>

namespace lockstep {

ExactReducer::ExactReducer(GradientBuffers& gradients, ProcessGroup& group,
                           std::int64_t accumulation)
    : storage_(gradients.storage()),
      gradients_(gradients),
      group_(group),
      accumulation_(accumulation),
      chain_(group.rank() * accumulation),
      own_shard_(
          cut_shards(storage_.elements(), group.size())[static_cast<std::size_t>(group.rank())]) {
  LOCKSTEP_CHECK(accumulation > 0 && storage_.sharing() == nullptr);
  std::vector<std::vector<SumNode>> sums;  // by rank
  std::vector<SumNode> all;
  for (std::int64_t rank = 0; rank < group.size(); ++rank) {
    sums.push_back(partial_sums(rank * accumulation, (rank + 1) * accumulation));
    all.insert(all.end(), sums.back().begin(), sums.back().end());
  }
  steps_ = finish_sum(all, group.size() * accumulation);
  partial_.resize(all.size());
  for (const Shard& shard : cut_shards(storage_.elements(), group.size()))
    shard_sizes_.push_back(shard.size());
  // Allocates the largest stack that any step needs, so that later steps cannot run out of memory
  // here.
  const std::int64_t begin = chain_.next();
  const std::size_t height = accumulation > 1 ? highest_stack(begin, begin + accumulation) : 0;
  while (stack_.size() < height) stack_.push_back(at::empty_like(gradients.flat()));
  if (group.size() > 1)
    plan_exchanges(sums);
  else
    for (std::size_t k = 0; k < partial_.size(); ++k) partial_[k] = own_sum(k);
}

void ExactReducer::plan_exchanges(const std::vector<std::vector<SumNode>>& sums) {
  const std::size_t own_sums = sums[static_cast<std::size_t>(group_.rank())].size();
  const auto most = std::max_element(
      sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  for (std::size_t k = 0; k < most->size(); ++k) {
    Exchange exchange;
    std::vector<std::size_t> come;  // indices of `partial_`
    std::size_t first = 0;          // index of the rank's first sum in `partial_`
    for (std::size_t rank = 0; rank < sums.size(); ++rank) {
      const bool comes = k < sums[rank].size();
      if (comes) come.push_back(first + k);
      exchange.take.push_back(comes ? own_shard_.size() : 0);
      exchange.give.push_back(k < own_sums ? shard_sizes_[rank] : 0);
      first += sums[rank].size();
    }
    const auto count = static_cast<std::int64_t>(come.size());
    exchange.taken = at::empty({count * own_shard_.size()}, gradients_.flat().options());
    for (std::int64_t i = 0; i < count; ++i)
      partial_[come[static_cast<std::size_t>(i)]] =
          exchange.taken.narrow(0, i * own_shard_.size(), own_shard_.size());
    exchanges_.push_back(std::move(exchange));
  }
}

void ExactReducer::push() {
  const at::NoGradGuard no_grad;
  const std::size_t height = chain_.stack().size();
  const int sums = chain_.push();
  if (accumulation_ == 1) return;
  if (sums == 0) {
    stack_[height].copy_(gradients_.flat());
    return;
  }
  std::size_t top = height - 1;
  stack_[top].add_(gradients_.flat());
  for (int sum = 1; sum < sums; ++sum, --top) stack_[top - 1].add_(stack_[top]);
}

void ExactReducer::skip_rest() {
  while (chain_.next() < (group_.rank() + 1) * accumulation_) chain_.push();
}

at::Tensor ExactReducer::own_sum(std::size_t k) {
  return accumulation_ == 1 ? gradients_.flat() : stack_.at(k);
}

void ExactReducer::finish() {
  const at::NoGradGuard no_grad;
  LOCKSTEP_CHECK(chain_.next() == (group_.rank() + 1) * accumulation_);
  const std::size_t own_sums = chain_.stack().size();
  std::vector<std::unique_ptr<Pending>> pending;
  for (std::size_t k = 0; k < exchanges_.size(); ++k) {
    const Exchange& exchange = exchanges_[k];
    const at::Tensor given = k < own_sums ? own_sum(k) : gradients_.flat().narrow(0, 0, 0);
    pending.push_back(group_.exchange(exchange.taken, given, exchange.take, exchange.give));
  }
  for (const auto& one : pending) one->wait();
  add_up();
  group_.gather_shards(gradients_.flat(), shard_sizes_)->wait();
  reset();
}

void ExactReducer::add_up() {
  at::Tensor whole = gradients_.flat().narrow(0, own_shard_.begin, own_shard_.size());
  for (std::size_t i = 0; i + 1 < steps_.size(); ++i)
    partial_[steps_[i].into].add_(partial_[steps_[i].from]);
  if (!steps_.empty())
    at::add_out(whole, partial_[steps_.back().into], partial_[steps_.back().from]);
  else if (accumulation_ > 1)
    whole.copy_(partial_[0]);
}

void ExactReducer::reset() { chain_ = CarryChain(group_.rank() * accumulation_); }

}  // namespace lockstep
