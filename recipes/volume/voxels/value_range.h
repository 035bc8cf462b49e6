// The range of values in the training volumes. Volumes for prediction whose values are outside this
// range get a warning.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "recipes/volume/voxels/cached_volume.h"

namespace lockstep::volume {

struct ChannelRange {
  double mean_low = 0, mean_high = 0;  // smallest and largest mean of a training volume
  double deviation_low = 0, deviation_high = 0;
};
struct ValueRange {
  std::vector<VoxelType> types;  // types of the cached volumes
  std::vector<ChannelRange> channels;

  // Extends the ranges by a training volume. All volumes must have the same number of channels.
  void add(const CachedHeader& header);
};

// Returns a text that says how the values of a volume differ from the values of the training
// volumes. Returns an empty text if they do not differ. The text is always empty for zscore and
// percentile, because these normalise each volume by its own statistics.
std::string odd_values(const ValueRange& training, const Normalization& how, VoxelType type,
                       const std::vector<ChannelStatistics>& channels);

nlohmann::json to_json(const ValueRange& range);
ValueRange value_range_from_json(const nlohmann::json& json);  // null gives an empty range

}  // namespace lockstep::volume
