#include "recipes/volume/prepare/warn_values.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/text/text.h"
#include "recipes/volume/voxels/cached_volume.h"

namespace lockstep::volume {
namespace {

constexpr double far_away = 20;
constexpr const char* what_helps = "; data.normalize=zscore, percentile or ct may be meant";

}  // namespace

std::vector<std::string> said_of_values(const PreparedVolumes& volumes) {
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

std::vector<std::string> said_of_white(const PreparedVolumes& volumes) {
  std::map<std::filesystem::path, bool> images;  // a single volume is in both sets
  for (const auto* entries : {&volumes.train, &volumes.valid})
    for (const VolumeEntry& entry : *entries)
      images[entry.image] = CachedVolume(entry.cached).header().white_is_zero;
  const auto white =
      std::count_if(images.begin(), images.end(), [](const auto& image) { return image.second; });
  if (white == 0) return {};
  const auto all = std::ssize(images);
  return {cat(white < all ? "warning: " : "", white, " of ", all, all == 1 ? " image" : " images",
              white == 1 ? " says" : " say", " that 0 is white (TIFF's WhiteIsZero): voxels are ",
              "taken as they are stored",
              white < all ? ", so these are inverted beside the others" : "")};
}

std::vector<std::string> said_of_ignored(const PreparedVolumes& volumes, bool meant) {
  constexpr double nearly_all = 0.9;
  std::map<std::filesystem::path, CachedHeader> headers;  // a single volume is in both sets
  for (const auto* entries : {&volumes.train, &volumes.valid})
    for (const VolumeEntry& entry : *entries)
      if (!headers.contains(entry.cached))
        headers.emplace(entry.cached, CachedVolume(entry.cached).header());
  double ignored = 0, all = 0;
  std::int64_t with = 0, label = -1;
  for (const auto& [path, header] : headers) {
    const VolumeShape& shape = header.shape;
    all += static_cast<double>(shape.depth * shape.height * shape.width);
    ignored += static_cast<double>(header.ignored);
    with += header.ignored > 0 ? 1 : 0;
    label = header.ignore;
  }
  if (ignored == 0) return {};
  const bool much = ignored > nearly_all * all;
  std::string text = cat(much ? "warning: " : "", "label ", label, " (data.ignore) is on ",
                         fixed(100 * ignored / all, 1), " % of the voxels, in ", with, " of ",
                         headers.size(), headers.size() == 1 ? " volume" : " volumes",
                         ": it counts neither in the loss nor in a score");
  if (!meant)
    text += cat("; if it is a class of its own, set data.classes=", label + 1, " data.ignore=-1");
  return {text};
}

}  // namespace lockstep::volume
