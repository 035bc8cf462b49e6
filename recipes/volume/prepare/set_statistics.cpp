// Reads the cached volumes twice: first for moments and range, then for the histogram.
#include "recipes/volume/prepare/set_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/hash.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "recipes/volume/prepare/cache/parallel.h"
#include "recipes/volume/voxels/cached_volume.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t bins = 65'536;

struct Moments {
  double minimum = std::numeric_limits<double>::max(), maximum = -minimum;
  double sum = 0, squares = 0;
  std::int64_t count = 0;

  void add(double value) {
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
    sum += value;
    squares += value * value;
    ++count;
  }
  void add(const Moments& other) {
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
    sum += other.sum;
    squares += other.squares;
    count += other.count;
  }
};

template <class Voxel, class Take>
void take_foreground(const CachedVolume& volume, const VolumeEntry& entry, std::int64_t channel,
                     Take take) {
  const VolumeShape& shape = volume.shape();
  const std::int64_t plane = shape.height * shape.width;
  const auto* const voxels =
      reinterpret_cast<const Voxel*>(volume.image().data()) + channel * shape.depth * plane;
  const std::uint8_t* const labels = volume.labels().data();
  const std::int64_t ignore = volume.header().ignore;
  for (std::int64_t i = entry.begin * plane; i < entry.end * plane; ++i)
    if (labels[i] != 0 && labels[i] != ignore) take(static_cast<double>(voxels[i]));
}

template <class Take>
void for_each_foreground(const VolumeEntry& entry, std::int64_t channel, Take take) {
  const CachedVolume volume(entry.cached);
  switch (volume.header().type) {
    case VoxelType::u8:
      return take_foreground<std::uint8_t>(volume, entry, channel, take);
    case VoxelType::u16:
      return take_foreground<std::uint16_t>(volume, entry, channel, take);
    default:
      return take_foreground<float>(volume, entry, channel, take);
  }
}

using Histogram = std::vector<std::int64_t>;

// Combines the moments of all volumes. They are added in the order of the volumes, so that rounding
// is always the same.
Moments moments_of(const std::vector<VolumeEntry>& entries, std::int64_t channel) {
  std::vector<Moments> parts(entries.size());
  run_parallel({.count = entries.size(), .run = [&](std::size_t i) {
                  for_each_foreground(entries[i], channel,
                                      [&](double value) { parts[i].add(value); });
                }});
  Moments whole;
  for (const Moments& part : parts) whole.add(part);
  return whole;
}

Histogram histogram_of(const std::vector<VolumeEntry>& entries, std::int64_t channel,
                       const Moments& moments) {
  Histogram whole(bins);
  std::mutex mutex;
  const double range = moments.maximum - moments.minimum;
  const double to_bin = range > 0 ? static_cast<double>(bins) / range : 0;
  run_parallel({.count = entries.size(), .run = [&](std::size_t i) {
                  Histogram part(bins);
                  for_each_foreground(entries[i], channel, [&](double value) {
                    const double bin = (value - moments.minimum) * to_bin;
                    ++part[std::min(static_cast<std::size_t>(bin), bins - 1)];
                  });
                  const std::lock_guard lock(mutex);
                  for (std::size_t bin = 0; bin < bins; ++bin) whole[bin] += part[bin];
                }});
  return whole;
}

double quantile(const Histogram& histogram, const Moments& moments, double share) {
  const auto rank = static_cast<std::int64_t>(share * static_cast<double>(moments.count - 1));
  std::int64_t before = 0;
  std::size_t bin = 0;
  while (bin + 1 < bins && (before += histogram[bin]) <= rank) ++bin;
  return moments.minimum + (static_cast<double>(bin) + 0.5) * (moments.maximum - moments.minimum) /
                               static_cast<double>(bins);
}

ChannelStatistics statistics_of_channel(const std::vector<VolumeEntry>& entries,
                                        std::int64_t channel) {
  const Moments moments = moments_of(entries, channel);
  const Histogram histogram = histogram_of(entries, channel, moments);
  const auto count = static_cast<double>(moments.count);
  const double mean = moments.sum / count;
  return {.minimum = moments.minimum,
          .maximum = moments.maximum,
          .mean = mean,
          .deviation = std::sqrt(std::max(0.0, moments.squares / count - mean * mean)),
          .low = quantile(histogram, moments, 0.005),
          .high = quantile(histogram, moments, 0.995)};
}

fs::path kept_at(const std::vector<VolumeEntry>& entries, const fs::path& folder) {
  Hasher hasher;
  for (const VolumeEntry& entry : entries)
    hasher.update(cat(entry.cached.filename().string(), " ", entry.begin, " ", entry.end, "\n"));
  return folder / (hasher.hex() + ".statistics.json");
}

std::optional<std::vector<ChannelStatistics>> read_kept(const fs::path& path,
                                                        std::int64_t channels) try {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  std::vector<ChannelStatistics> statistics;
  for (const nlohmann::json& channel : parse_json(read_file(path)))
    statistics.push_back(channel_statistics_from_json(channel));
  if (static_cast<std::int64_t>(statistics.size()) != channels) return std::nullopt;
  return statistics;
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace

std::vector<ChannelStatistics> foreground_statistics(const std::vector<VolumeEntry>& entries,
                                                     const fs::path& folder, const Say& say) {
  const std::int64_t channels = entries.at(0).shape.channels;
  const fs::path path = kept_at(entries, folder);
  if (auto kept = read_kept(path, channels)) return *kept;
  say(cat("measuring the foreground of ", entries.size(), " volumes (data.normalize=ct)"));
  std::vector<ChannelStatistics> statistics;
  nlohmann::json json = nlohmann::json::array();
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    statistics.push_back(statistics_of_channel(entries, channel));
    json.push_back(to_json(statistics.back()));
  }
  write_file_atomic(path, json.dump() + "\n");
  return statistics;
}

}  // namespace lockstep::volume
