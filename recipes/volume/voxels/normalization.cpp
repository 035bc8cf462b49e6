// Derives normalization from statistics, and converts both to JSON.
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/volume/voxels/statistics.h"

namespace lockstep::volume {
namespace {

constexpr float no_limit = std::numeric_limits<float>::max();

constexpr const char* normalize_words[] = {"divide", "zscore", "percentile", "ct"};

float inverse(double value) { return value > 0 ? static_cast<float>(1 / value) : 1; }

double divisor_of(const Normalization& how, VoxelType type) {
  if (how.divide > 0) return how.divide;
  return type == VoxelType::u8 ? 255 : type == VoxelType::u16 ? 65'535 : 1;
}

ChannelNormal by_deviation(const ChannelStatistics& of, float low, float high) {
  return {low, high, static_cast<float>(of.mean), inverse(of.deviation)};
}

ChannelNormal normal_of_channel(const Normalization& how, VoxelType type,
                                const ChannelStatistics& volume, std::size_t channel) {
  switch (how.kind) {
    case Normalize::divide:
      return {-no_limit, no_limit, 0, inverse(divisor_of(how, type))};
    case Normalize::zscore:
      return by_deviation(volume, -no_limit, no_limit);
    case Normalize::percentile:
      return {static_cast<float>(volume.low), static_cast<float>(volume.high),
              static_cast<float>(volume.low), inverse(volume.high - volume.low)};
    case Normalize::ct:
      break;
  }
  const ChannelStatistics& set = how.set[channel];
  return by_deviation(set, static_cast<float>(set.low), static_cast<float>(set.high));
}

}  // namespace

std::vector<ChannelNormal> normal_of(const Normalization& how, VoxelType type,
                                     const std::vector<ChannelStatistics>& volume) {
  if (how.kind == Normalize::ct && how.set.size() != volume.size())
    throw Error(cat("data.normalize=ct knows ", how.set.size(), " channels of the training set, ",
                    "but the volume has ", volume.size()),
                "predict volumes like those that were trained on");
  std::vector<ChannelNormal> normals;
  for (std::size_t channel = 0; channel < volume.size(); ++channel)
    normals.push_back(normal_of_channel(how, type, volume[channel], channel));
  return normals;
}

nlohmann::json to_json(const ChannelStatistics& statistics) {
  return {{"minimum", statistics.minimum}, {"maximum", statistics.maximum},
          {"mean", statistics.mean},       {"deviation", statistics.deviation},
          {"low", statistics.low},         {"high", statistics.high}};
}

ChannelStatistics channel_statistics_from_json(const nlohmann::json& json) {
  return {.minimum = json.at("minimum"),
          .maximum = json.at("maximum"),
          .mean = json.at("mean"),
          .deviation = json.at("deviation"),
          .low = json.at("low"),
          .high = json.at("high")};
}

nlohmann::json to_json(const Normalization& how) {
  nlohmann::json set = nlohmann::json::array();
  for (const ChannelStatistics& channel : how.set) set.push_back(to_json(channel));
  return {{"kind", normalize_words[static_cast<std::size_t>(how.kind)]},
          {"divide", how.divide},
          {"set", set}};
}

Normalization normalization_from_json(const nlohmann::json& json) {
  Normalization how{.divide = json.at("divide")};
  const std::string word = json.at("kind");
  bool known = false;
  for (std::size_t i = 0; i < std::size(normalize_words); ++i)
    if (word == normalize_words[i]) {
      how.kind = static_cast<Normalize>(i);
      known = true;
    }
  if (!known) throw Error(cat("there is no normalisation \"", word, "\""));
  for (const auto& channel : json.at("set"))
    how.set.push_back(channel_statistics_from_json(channel));
  return how;
}

}  // namespace lockstep::volume
