// Compares one sum per rank. If these differ, compares one sum per parameter.
#include "training/parameters/weight_check.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

#include <map>

namespace lockstep {
namespace {

at::Tensor sum_of_bits(const at::Tensor& values) {
  const auto size = values.element_size();
  const at::ScalarType whole = size == 8   ? at::kLong
                               : size == 4 ? at::kInt
                               : size == 2 ? at::kShort
                                           : at::kByte;
  return values.view(whole).sum(at::kLong);
}

at::Tensor sum_of_all_bits(const ParameterStorage& storage, const at::Tensor& flat) {
  at::Tensor sum = sum_of_bits(flat);
  for (std::size_t i = 0; i < storage.frozen().size(); ++i)
    sum = sum.add(sum_of_bits(storage.frozen().tensor(i)).mul(static_cast<std::int64_t>(i) + 2));
  return sum;
}

// Returns the ranks whose value in this column differs from the most frequent one. sums: [ranks,
// n].
std::vector<int> odd_ones(const at::Tensor& sums, std::int64_t column) {
  std::map<std::int64_t, int> votes;
  const auto value = [&](std::int64_t rank) { return sums[rank][column].item<std::int64_t>(); };
  for (std::int64_t rank = 0; rank < sums.size(0); ++rank) ++votes[value(rank)];
  if (votes.size() == 1) return {};
  std::int64_t usual = value(0);  // in a tie, rank 0's value
  for (const auto& [sum, count] : votes)
    if (count > votes[usual]) usual = sum;
  std::vector<int> odd;
  for (std::int64_t rank = 0; rank < sums.size(0); ++rank)
    if (value(rank) != usual) odd.push_back(static_cast<int>(rank));
  return odd;
}

}  // namespace

WeightDifference compare_weights(const ParameterStorage& storage, ProcessGroup& group) {
  const at::NoGradGuard no_grad;
  if (group.size() == 1) return {};
  // Ranks that share the update hold only their shards of the master weights, but all of the
  // working copy.
  const bool whole_master = storage.master().numel() == storage.elements();
  const at::Tensor flat = whole_master ? storage.master() : storage.weights();
  const at::Tensor sum = sum_of_all_bits(storage, flat).unsqueeze(0);
  if (odd_ones(group.all_gather(sum).to(at::kCPU), 0).empty()) return {};
  std::vector<at::Tensor> sums;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < storage.parameters().size(); ++i) {
    sums.push_back(sum_of_bits(storage.view(flat, i)));
    names.push_back(storage.parameters()[i].name);
  }
  for (std::size_t i = 0; i < storage.frozen().size(); ++i) {
    sums.push_back(sum_of_bits(storage.frozen().tensor(i)));
    names.push_back(storage.frozen().name(i));
  }
  const at::Tensor all = group.all_gather(at::stack(sums)).to(at::kCPU);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::vector<int> odd = odd_ones(all, static_cast<std::int64_t>(i));
    if (!odd.empty()) return {.ranks = odd, .parameter = names[i]};
  }
  return {};
}

}  // namespace lockstep
