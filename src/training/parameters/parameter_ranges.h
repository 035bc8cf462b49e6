// Finds the ranges of the flat buffers that given parameters occupy, as few ranges as possible.
#pragma once

#include "training/parameters/parameter_storage.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace lockstep {

// Each pair is a range of elements [begin, end). The ranges are in ascending order.
using ParameterRanges = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Returns the ranges of those `parameters` for which wanted(index) is true. The ranges include the
// padding after each parameter. Parameters that follow each other in memory form one range.
template <class Wanted>
ParameterRanges ranges_of(const ParameterStorage& storage, std::vector<std::size_t> parameters,
                          const Wanted& wanted) {
  const std::vector<ParameterPlace>& places = storage.places();
  std::sort(parameters.begin(), parameters.end(),
            [&](std::size_t a, std::size_t b) { return places[a].begin < places[b].begin; });
  ParameterRanges ranges;
  for (const std::size_t i : parameters) {
    if (!wanted(i)) continue;
    const std::int64_t begin = places[i].begin, end = places[i].end;
    if (!ranges.empty() && ranges.back().second == begin)
      ranges.back().second = end;
    else
      ranges.emplace_back(begin, end);
  }
  return ranges;
}

}  // namespace lockstep
