// The values that the training volumes had, so that others are noticed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "recipes/volume/voxels/cached_volume.h"

namespace lockstep::volume {

struct ChannelRange {
  double mean_low = 0, mean_high = 0;  // the least and the greatest mean of a volume
  double deviation_low = 0, deviation_high = 0;
};
struct ValueRange {
  std::vector<VoxelType> types;  // as cached
  std::vector<ChannelRange> channels;

  void add(const CachedHeader& header);  // of volumes with one number of channels
};

// Why a volume does not look like those of the training; "" if it does, or if normalisation
// makes them alike: zscore and percentile go by the volume alone.
std::string odd_values(const ValueRange& training, const Normalization& how, VoxelType type,
                       const std::vector<ChannelStatistics>& channels);

nlohmann::json to_json(const ValueRange& range);
ValueRange value_range_from_json(const nlohmann::json& json);  // null: an empty one

}  // namespace lockstep::volume
