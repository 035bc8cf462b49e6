// Statistics of voxels for normalisation, and normalisation itself.
#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// Statistics of one channel: of all voxels of a volume, so that they do not depend on labels, or of
// the foreground of a whole data set.
struct ChannelStatistics {
  double minimum = 0, maximum = 0, mean = 0, deviation = 1;
  double low = 0,
         high = 1;  // the 0.5 % and 99.5 % quantiles, within one part in 4,096 of the range
  friend bool operator==(const ChannelStatistics&, const ChannelStatistics&) = default;
};

enum class Normalize { divide, zscore, percentile, ct };

// Maps value to (clamp(value, low, high) - shift) * scale.
struct ChannelNormal {
  float low = 0, high = 0, shift = 0, scale = 1;
};

struct Normalization {
  Normalize kind = Normalize::divide;
  double divide = 0;                     // 0: 255 for u8, 65,535 for u16, 1 for others
  std::vector<ChannelStatistics> set{};  // for ct: of the foreground of all training volumes
};

// divide: by a constant. zscore: to mean 0 and deviation 1, per volume and channel. percentile: the
// quantiles become 0 and 1, and values beyond them are clamped, per volume and channel. ct: clamped
// to the quantiles of the set, then normalised by its mean and deviation, equally for all volumes
// (nnU-Net's way). type: the type of the voxels as stored. A deviation or range of 0 counts as 1.
// Throws Error if ct has no statistics of the set, or statistics of another number of channels.
std::vector<ChannelNormal> normal_of(const Normalization& how, VoxelType type,
                                     const std::vector<ChannelStatistics>& volume);

nlohmann::json to_json(const ChannelStatistics& statistics);
ChannelStatistics channel_statistics_from_json(const nlohmann::json& json);
nlohmann::json to_json(const Normalization& how);
Normalization normalization_from_json(const nlohmann::json& json);

}  // namespace lockstep::volume
