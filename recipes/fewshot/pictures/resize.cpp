#include "recipes/fewshot/pictures/resize.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace lockstep::fewshot {
namespace {

constexpr int largest_extent = 65'535;
constexpr int weight_bits = 22;  // of a weight's fraction: 8 bits of a value and a sign stay in 32

// Of each value of a row (or column) that is made: which of the old ones it is made of.
struct Taps {
  std::vector<int> first, count;      // [to]
  std::vector<std::int32_t> weights;  // [to, most]
  int most = 0;

  const std::int32_t* weights_of(int at) const {
    return weights.data() + static_cast<std::size_t>(at) * static_cast<std::size_t>(most);
  }
};

// `to` values of the old ones from `begin` to `end`, of which there are `extent` in all.
Taps make_taps(double begin, double end, int extent, int to) {
  const double scale = (end - begin) / to, reach = std::max(scale, 1.0);
  Taps taps;
  taps.most = 2 * static_cast<int>(std::ceil(reach)) + 1;
  taps.weights.resize(static_cast<std::size_t>(to) * static_cast<std::size_t>(taps.most));
  std::vector<double> share(static_cast<std::size_t>(taps.most));
  for (int at = 0; at < to; ++at) {
    const double centre = begin + (at + 0.5) * scale;
    const int first = std::max(static_cast<int>(centre - reach + 0.5), 0);
    const int count = std::min(static_cast<int>(centre + reach + 0.5), extent) - first;
    double sum = 0;
    for (int i = 0; i < count; ++i) {
      const double away = std::abs(first + i + 0.5 - centre) / reach;
      sum += share[static_cast<std::size_t>(i)] = std::max(0.0, 1 - away);
    }
    std::int32_t* const weights =
        taps.weights.data() + static_cast<std::size_t>(at) * static_cast<std::size_t>(taps.most);
    for (int i = 0; i < count; ++i)
      weights[i] = static_cast<std::int32_t>(
          std::lround(share[static_cast<std::size_t>(i)] / sum * (1 << weight_bits)));
    taps.first.push_back(first);
    taps.count.push_back(count);
  }
  return taps;
}

std::uint8_t rounded(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> weight_bits, 0, 255));
}

constexpr std::int32_t half = 1 << (weight_bits - 1);

void resize_row(const std::uint8_t* from, const Taps& taps, std::uint8_t* to) {
  const int width = static_cast<int>(taps.first.size());
  for (int column = 0; column < width; ++column, to += 3) {
    const std::int32_t* const weights = taps.weights_of(column);
    const std::uint8_t* pixel =
        from + 3 * static_cast<std::ptrdiff_t>(taps.first[static_cast<std::size_t>(column)]);
    std::int32_t red = half, green = half, blue = half;
    for (int i = 0; i < taps.count[static_cast<std::size_t>(column)]; ++i, pixel += 3) {
      red += weights[i] * pixel[0];
      green += weights[i] * pixel[1];
      blue += weights[i] * pixel[2];
    }
    to[0] = rounded(red);
    to[1] = rounded(green);
    to[2] = rounded(blue);
  }
}

// A row of `width` values as the weighted sum of rows that lie behind each other.
void mix_rows(const std::uint8_t* __restrict rows, std::size_t width, int count,
              const std::int32_t* __restrict weights, std::int32_t* __restrict sum,
              std::uint8_t* __restrict to) {
  std::fill_n(sum, width, half);
  for (int i = 0; i < count; ++i, rows += width) {
    const std::int32_t weight = weights[i];
    for (std::size_t k = 0; k < width; ++k) sum[k] += weight * rows[k];
  }
  for (std::size_t k = 0; k < width; ++k) to[k] = rounded(sum[k]);
}

void check(const Image& image, int height, int width, const Region& region) {
  if (image.channels() != 3 || image.bits() != 8)
    throw Error(
        cat("resizing needs an RGB picture of 8 bits, but this one is ", describe(image.shape())),
        "convert(image, 3, 8) makes one");
  if (height < 1 || width < 1 || height > largest_extent || width > largest_extent)
    throw Error(cat("a picture cannot be resized to ", width, " x ", height),
                cat("extents are from 1 to ", largest_extent));
  if (!(region.left >= 0 && region.top >= 0 && region.left < region.right &&
        region.top < region.bottom && region.right <= image.width() &&
        region.bottom <= image.height()))
    throw Error(cat("the region from ", region.left, ", ", region.top, " to ", region.right, ", ",
                    region.bottom, " is not within a picture of ", image.width(), " x ",
                    image.height()));
}

}  // namespace

Image resize(const Image& image, int height, int width, const Region& region) {
  check(image, height, width, region);
  const Taps across = make_taps(region.left, region.right, image.width(), width);
  const Taps down = make_taps(region.top, region.bottom, image.height(), height);
  const int first = down.first.front(), end = down.first.back() + down.count.back();
  const std::size_t from_row = 3 * static_cast<std::size_t>(image.width());
  const std::size_t to_row = 3 * static_cast<std::size_t>(width);
  std::vector<std::uint8_t> narrow(to_row * static_cast<std::size_t>(end - first));
  for (int row = first; row < end; ++row)
    resize_row(image.u8().data() + from_row * static_cast<std::size_t>(row), across,
               narrow.data() + to_row * static_cast<std::size_t>(row - first));
  Image made({.height = height, .width = width, .channels = 3});
  std::vector<std::int32_t> sums(to_row);
  for (int row = 0; row < height; ++row) {
    const auto at = static_cast<std::size_t>(row);
    mix_rows(narrow.data() + to_row * static_cast<std::size_t>(down.first[at] - first), to_row,
             down.count[at], down.weights_of(row), sums.data(), made.u8().data() + to_row * at);
  }
  return made;
}

Image resize(const Image& image, int height, int width) {
  return resize(image, height, width,
                {.left = 0,
                 .top = 0,
                 .right = static_cast<double>(image.width()),
                 .bottom = static_cast<double>(image.height())});
}

}  // namespace lockstep::fewshot
