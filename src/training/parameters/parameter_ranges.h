// The ranges of the flat buffers that some parameters take up. Their number is as small as
// possible.
#pragma once

#include "training/parameters/parameter_storage.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace lockstep {

// Elements [begin, end), in ascending order.
using ParameterRanges = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Returns the ranges of the parameters for which wanted(index) is true, with their padding.
// Neighbouring parameters form one range.
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
