#include "recipes/volume/voxels/value_range.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/text/text.h"
#include "recipes/volume/voxels/cached_layout.h"

namespace lockstep::volume {
namespace {

// Limits far beyond the differences between scanners. far_deviations: the distance of a mean from
// the training's means, in deviations. far_times: the ratio of deviations.
constexpr double far_deviations = 2, far_times = 4;

std::string types_text(const std::vector<VoxelType>& types) {
  std::vector<std::string> names;
  for (const VoxelType type : types) names.emplace_back(name_of(type));
  return join(names, " or ");
}

bool is_far(const ChannelRange& range, const ChannelStatistics& found) {
  const double reach = far_deviations * range.deviation_high;
  return found.mean < range.mean_low - reach || found.mean > range.mean_high + reach ||
         found.deviation > far_times * range.deviation_high ||
         far_times * found.deviation < range.deviation_low;
}

std::string span_text(double low, double high) {
  const std::string from = general(low, 3), to = general(high, 3);
  return from == to ? from : cat(from, " to ", to);
}

}  // namespace

void ValueRange::add(const CachedHeader& header) {
  if (std::find(types.begin(), types.end(), header.type) == types.end())
    types.push_back(header.type);
  const bool first = channels.empty();
  channels.resize(header.channels.size());
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const auto& [mean, deviation] =
        std::pair(header.channels[c].mean, header.channels[c].deviation);
    ChannelRange& range = channels[c];
    range = {.mean_low = first ? mean : std::min(range.mean_low, mean),
             .mean_high = first ? mean : std::max(range.mean_high, mean),
             .deviation_low = first ? deviation : std::min(range.deviation_low, deviation),
             .deviation_high = first ? deviation : std::max(range.deviation_high, deviation)};
  }
}

std::string odd_values(const ValueRange& training, const Normalization& how, VoxelType type,
                       const std::vector<ChannelStatistics>& channels) {
  if (how.kind != Normalize::divide && how.kind != Normalize::ct) return "";
  const bool by_type = how.kind == Normalize::divide && how.divide == 0;
  if (by_type && !training.types.empty() &&
      std::find(training.types.begin(), training.types.end(), type) == training.types.end())
    return cat("its voxels are ", name_of(type), ", those of the training were ",
               types_text(training.types), ", and each type is divided by its own number");
  for (std::size_t c = 0; c < std::min(training.channels.size(), channels.size()); ++c)
    if (const ChannelRange& range = training.channels[c]; is_far(range, channels[c]))
      return cat("its values", channels.size() > 1 ? cat(" in channel ", c) : "", " have mean ",
                 general(channels[c].mean, 3), " and deviation ", general(channels[c].deviation, 3),
                 ", those of the training had ", span_text(range.mean_low, range.mean_high),
                 " and ", span_text(range.deviation_low, range.deviation_high),
                 ": another unit, or 16 bits cut to their low 8, looks so");
  return "";
}

nlohmann::json to_json(const ValueRange& range) {
  nlohmann::json types = nlohmann::json::array(), channels = nlohmann::json::array();
  for (const VoxelType type : range.types) types.push_back(name_of(type));
  for (const ChannelRange& channel : range.channels)
    channels.push_back({{"mean", {channel.mean_low, channel.mean_high}},
                        {"deviation", {channel.deviation_low, channel.deviation_high}}});
  return {{"types", types}, {"channels", channels}};
}

ValueRange value_range_from_json(const nlohmann::json& json) {
  ValueRange range;
  if (!json.is_object()) return range;
  for (const auto& type : json.at("types")) range.types.push_back(cached_type(type));
  for (const auto& channel : json.at("channels"))
    range.channels.push_back({.mean_low = channel.at("mean").at(0),
                              .mean_high = channel.at("mean").at(1),
                              .deviation_low = channel.at("deviation").at(0),
                              .deviation_high = channel.at("deviation").at(1)});
  return range;
}

}  // namespace lockstep::volume
