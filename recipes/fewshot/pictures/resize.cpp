#include "recipes/fewshot/pictures/resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/fewshot/pictures/resize_rows.h"

namespace lockstep::fewshot {
namespace {

constexpr int largest_extent = 65'535;

// The weights to compute `to` new values from the old values between `begin` and `end`. extent: the
// number of all old values.
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
  const auto row = [](int width) { return 3 * static_cast<std::size_t>(width); };
  std::vector<std::uint8_t> narrow(row(width) * static_cast<std::size_t>(end - first));
  resize_rows({.data = image.u8().data() + row(image.width()) * static_cast<std::size_t>(first),
               .width = image.width(),
               .count = static_cast<std::size_t>(end - first)},
              across, narrow.data());
  Image made({.height = height, .width = width, .channels = 3});
  for (std::size_t at = 0; at < static_cast<std::size_t>(height); ++at)
    mix_rows({.data = narrow.data() + row(width) * static_cast<std::size_t>(down.first[at] - first),
              .width = width,
              .count = static_cast<std::size_t>(down.count[at])},
             down.weights_of(at), made.u8().data() + row(width) * at);
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
