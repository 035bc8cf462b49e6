#include "recipes/volume/prepare/warn_values.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "recipes/volume/voxels/cached_volume.h"

namespace lockstep::volume {
namespace {

constexpr double far_away = 20;
constexpr const char* what_helps = "; data.normalize=zscore, percentile or ct may be meant";

}  // namespace

std::vector<std::string> warnings_of(const PreparedVolumes& volumes) {
  std::vector<std::string> warnings;
  const auto once = [&](const std::string& text) {
    if (warnings.empty()) warnings.push_back("warning: " + text + what_helps);
  };
  const VolumeEntry* first = nullptr;
  VoxelType type = VoxelType::u8;
  std::vector<VolumeEntry> entries = volumes.train;
  entries.insert(entries.end(), volumes.valid.begin(), volumes.valid.end());
  for (const VolumeEntry& entry : entries) {
    const CachedHeader header = CachedVolume(entry.cached).header();
    const auto normals = normal_of(volumes.normalization, header.type, header.channels);
    for (std::size_t c = 0; c < normals.size(); ++c) {
      const ChannelNormal& how = normals[c];
      const auto normalised = [&](double value) {
        return (std::clamp(value, static_cast<double>(how.low), static_cast<double>(how.high)) -
                static_cast<double>(how.shift)) *
               static_cast<double>(how.scale);
      };
      const double low = normalised(header.channels[c].minimum),
                   high = normalised(header.channels[c].maximum);
      if (std::max(std::abs(low), std::abs(high)) > far_away)
        once(cat("values of ", entry.image.string(), " go from ", general(low, 4), " to ",
                 general(high, 4), " after normalisation, far beyond 0 to 1"));
      else if (low == high)
        once(cat("all voxels of ", entry.image.string(), " have one value"));
    }
    if (first != nullptr && header.type != type &&
        volumes.normalization.kind == Normalize::divide && volumes.normalization.divide == 0)
      once(cat(first->image.string(), " is ", name_of(type), " and ", entry.image.string(), " is ",
               name_of(header.type), ", which are divided by different numbers"));
    if (first == nullptr) {
      first = &entry;
      type = header.type;
    }
  }
  return warnings;
}

}  // namespace lockstep::volume
