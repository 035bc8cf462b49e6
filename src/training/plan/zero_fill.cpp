#include "training/plan/zero_fill.h"

#include "training/parameters/parameter_ranges.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lockstep {

ZeroFill::ZeroFill(const ParameterStorage& storage, const UpdatePlan& plan) {
  const auto is_filled = [&plan](std::size_t i) {
    return plan.parameters[i].first == FirstGradient::adds_to_zeros;
  };
  std::vector<std::size_t> all(plan.parameters.size());
  std::iota(all.begin(), all.end(), 0);
  if (plan.groups == 1 && std::all_of(all.begin(), all.end(), is_filled)) return;
  for (std::size_t group = 0; group < plan.groups; ++group) {
    std::vector<ZeroRange> ranges;
    for (const auto& [begin, end] : ranges_of(storage, all, [&](std::size_t i) {
           return plan.parameters[i].group == group && is_filled(i);
         }))
      ranges.push_back({begin, end});
    groups_.emplace_back(std::move(ranges), storage.master().device());
  }
}

void ZeroFill::fill(std::size_t group, const at::Tensor& flat, const at::Tensor& dirty) const {
  if (groups_.empty())
    flat.zero_();
  else
    groups_[group].zero(flat, dirty);
}

void ZeroFill::fill_all(const at::Tensor& flat) const {
  if (groups_.empty()) flat.zero_();
  for (const ZeroRanges& group : groups_) group.zero(flat);
}

}  // namespace lockstep
