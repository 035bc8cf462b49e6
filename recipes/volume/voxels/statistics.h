// Statistics of voxels, and the normalisation that follows from them.
#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// The statistics of one channel. Those of a volume cover all voxels, so they do not depend on
// labels. Those of a whole data set cover the foreground.
struct ChannelStatistics {
  double minimum = 0, maximum = 0, mean = 0, deviation = 1;
  // The 0.5 % and 99.5 % quantiles. The errors of these quantiles are at most 1/4,096 of the range
  // of values.
  double low = 0, high = 1;
  friend bool operator==(const ChannelStatistics&, const ChannelStatistics&) = default;
};

enum class Normalize { divide, zscore, percentile, ct };

// The normalisation of a channel. It maps a value to (clamp(value, low, high) - shift) * scale.
struct ChannelNormal {
  float low = 0, high = 0, shift = 0, scale = 1;
};

struct Normalization {
  Normalize kind = Normalize::divide;
  double divide = 0;                     // 0: 255 for u8, 65,535 for u16, 1 for other types
  std::vector<ChannelStatistics> set{};  // for ct: foreground of the training volumes
};

// Returns the normalisation of each channel of a volume:
//   divide       divides by a constant
//   zscore       maps each volume to mean 0 and standard deviation 1
//   percentile   maps the quantiles of each volume to 0 and 1, and clamps values beyond them
//   ct           as in nnU-Net: clamps to the quantiles of `set`, then normalises by its mean and
//                standard deviation
// how: the kind of normalisation. type: the type of the stored voxels. volume: the statistics of
// the volume's channels. A standard deviation of 0, and a range between the quantiles of 0, is
// replaced by 1. For ct, throws Error if how.set does not have the number of channels of the
// volume.
std::vector<ChannelNormal> normal_of(const Normalization& how, VoxelType type,
                                     const std::vector<ChannelStatistics>& volume);

nlohmann::json to_json(const ChannelStatistics& statistics);
ChannelStatistics channel_statistics_from_json(const nlohmann::json& json);
nlohmann::json to_json(const Normalization& how);
Normalization normalization_from_json(const nlohmann::json& json);

}  // namespace lockstep::volume
