// The range of values in the training volumes, by which unusual volumes are detected.
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

  void add(const CachedHeader& header);  // for volumes with the same number of channels
};

// Why a volume does not look like the training volumes. "" if it does. Also "" if normalisation
// makes volumes alike: zscore and percentile depend only on the volume itself.
std::string odd_values(const ValueRange& training, const Normalization& how, VoxelType type,
                       const std::vector<ChannelStatistics>& channels);

nlohmann::json to_json(const ValueRange& range);
ValueRange value_range_from_json(const nlohmann::json& json);  // null: an empty one

}  // namespace lockstep::volume
