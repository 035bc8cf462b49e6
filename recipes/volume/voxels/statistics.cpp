// Computes statistics of voxels in memory.
#include "recipes/volume/voxels/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "recipes/volume/voxels/voxels.h"

namespace lockstep::volume {
namespace {

constexpr double low_share = 0.005, high_share = 0.995;

// The value below which a share of the voxels lies. Bin i of the histogram begins at at(i).
template <class At>
double quantile(const std::vector<std::int64_t>& histogram, std::int64_t count, double share,
                At at) {
  const auto rank = static_cast<std::int64_t>(share * static_cast<double>(count - 1));
  std::int64_t before = 0;
  for (std::size_t bin = 0; bin < histogram.size(); ++bin) {
    before += histogram[bin];
    if (before > rank) return at(bin);
  }
  return at(histogram.size() - 1);
}

// Statistics of integers. Each value has its own bin, so results are exact up to rounding.
template <class Voxel, class Counts>
ChannelStatistics of_whole(const Voxel* voxels, std::size_t size, Counts counts) {
  std::vector<std::int64_t> histogram(std::size_t{1} << (8 * sizeof(Voxel)));
  for (std::size_t i = 0; i < size; ++i) histogram[voxels[i]] += counts(i);
  std::int64_t count = 0;
  double sum = 0;
  ChannelStatistics result{.minimum = std::numeric_limits<double>::max()};
  for (std::size_t bin = 0; bin < histogram.size(); ++bin) {
    if (histogram[bin] == 0) continue;
    const auto value = static_cast<double>(bin);
    result.minimum = std::min(result.minimum, value);
    result.maximum = value;
    count += histogram[bin];
    sum += value * static_cast<double>(histogram[bin]);
  }
  result.mean = sum / static_cast<double>(count);
  double squares = 0;
  for (std::size_t bin = 0; bin < histogram.size(); ++bin) {
    const double distance = static_cast<double>(bin) - result.mean;
    squares += distance * distance * static_cast<double>(histogram[bin]);
  }
  result.deviation = std::sqrt(squares / static_cast<double>(count));
  const auto at = [](std::size_t bin) { return static_cast<double>(bin); };
  result.low = quantile(histogram, count, low_share, at);
  result.high = quantile(histogram, count, high_share, at);
  return result;
}

// Statistics of floats. Quantiles are the middles of bins.
template <class Counts>
ChannelStatistics of_real(const float* voxels, std::size_t size, Counts counts) {
  constexpr std::size_t bins = 8192;
  double minimum = std::numeric_limits<double>::max(), maximum = -minimum, sum = 0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (!counts(i)) continue;
    const double value = voxels[i];
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
    sum += value;
    ++count;
  }
  const double mean = sum / static_cast<double>(count), range = maximum - minimum;
  const double to_bin = range > 0 ? static_cast<double>(bins) / range : 0;
  std::vector<std::int64_t> histogram(bins);
  double squares = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (!counts(i)) continue;
    const double value = voxels[i];
    squares += (value - mean) * (value - mean);
    ++histogram[std::min(static_cast<std::size_t>((value - minimum) * to_bin), bins - 1)];
  }
  const auto at = [&](std::size_t bin) {
    return minimum + (static_cast<double>(bin) + 0.5) * range / static_cast<double>(bins);
  };
  return {.minimum = minimum,
          .maximum = maximum,
          .mean = mean,
          .deviation = std::sqrt(squares / static_cast<double>(count)),
          .low = quantile(histogram, count, low_share, at),
          .high = quantile(histogram, count, high_share, at)};
}

template <class Counts>
ChannelStatistics of_channel(const Voxels& voxels, std::size_t channel, std::size_t size,
                             Counts counts) {
  const std::byte* const values = voxels.values.data() + channel * size * bytes_of(voxels.type);
  switch (voxels.type) {
    case VoxelType::u8:
      return of_whole(reinterpret_cast<const std::uint8_t*>(values), size, counts);
    case VoxelType::u16:
      return of_whole(reinterpret_cast<const std::uint16_t*>(values), size, counts);
    default:
      return of_real(reinterpret_cast<const float*>(values), size, counts);
  }
}

}  // namespace

std::vector<ChannelStatistics> statistics_of(const Voxels& voxels,
                                             std::span<const std::uint8_t> labels,
                                             std::optional<std::int64_t> ignore) {
  const VolumeShape& shape = voxels.shape;
  const auto size = static_cast<std::size_t>(shape.depth * shape.height * shape.width);
  const bool any_ignored =
      ignore && std::any_of(labels.begin(), labels.end(), [&](auto x) { return x == *ignore; });
  const bool all_ignored = any_ignored && std::all_of(labels.begin(), labels.end(),
                                                      [&](auto x) { return x == *ignore; });
  std::vector<ChannelStatistics> result;
  for (std::size_t channel = 0; channel < static_cast<std::size_t>(shape.channels); ++channel)
    result.push_back(
        any_ignored && !all_ignored
            ? of_channel(voxels, channel, size, [&](std::size_t i) { return labels[i] != *ignore; })
            : of_channel(voxels, channel, size, [](std::size_t) { return true; }));
  return result;
}

}  // namespace lockstep::volume
