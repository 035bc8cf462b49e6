#include "recipes/fewshot/metrics/picture_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::fewshot {
namespace {

void check_not_empty(const Image& image) {
  if (image.empty()) throw Error("an empty picture cannot be shown");
}

// The input pixels that contribute to one output pixel, along one axis.
struct Taps {
  std::size_t first = 0;
  std::vector<float> weights{};  // their sum is 1
};

// To shrink, takes the mean over the area of the output pixel. To enlarge, interpolates between the
// centres of two input pixels.
std::vector<Taps> taps_of(int from, int to) {
  const double scale = static_cast<double>(from) / to;
  const double reach = std::max(scale, 1.0);
  std::vector<Taps> all;
  for (int i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(std::floor(centre - reach)));
    const int last = std::min(from - 1, static_cast<int>(std::ceil(centre + reach)));
    Taps taps{.first = static_cast<std::size_t>(first)};
    double sum = 0;
    for (int k = first; k <= last; ++k) {
      const double inside = scale > 1 ? std::min(k + 1.0, centre + scale / 2) -
                                            std::max<double>(k, centre - scale / 2)
                                      : 1 - std::abs(k + 0.5 - centre);
      taps.weights.push_back(static_cast<float>(std::max(inside, 0.0)));
      sum += taps.weights.back();
    }
    for (float& weight : taps.weights) weight /= static_cast<float>(sum);
    all.push_back(std::move(taps));
  }
  return all;
}

constexpr std::size_t colours = 3;

}  // namespace

Image resized(const Image& image, int height, int width) {
  check_not_empty(image);
  Image result({.height = height, .width = width, .channels = 3});
  const Image rgb = convert(image, 3, 8);
  if (rgb.height() == height && rgb.width() == width) return rgb;
  const std::vector<Taps> columns = taps_of(rgb.width(), width),
                          rows = taps_of(rgb.height(), height);
  const std::span<const std::uint8_t> in = rgb.u8();
  const std::size_t in_row = colours * static_cast<std::size_t>(rgb.width());
  const std::size_t out_row = colours * static_cast<std::size_t>(width);
  std::vector<float> sums(out_row * static_cast<std::size_t>(rgb.height()));
  for (std::size_t y = 0; y < static_cast<std::size_t>(rgb.height()); ++y)
    for (std::size_t x = 0; x < columns.size(); ++x)
      for (std::size_t k = 0; k < columns[x].weights.size(); ++k)
        for (std::size_t c = 0; c < colours; ++c)
          sums[y * out_row + x * colours + c] +=
              columns[x].weights[k] * in[y * in_row + (columns[x].first + k) * colours + c];
  const std::span<std::uint8_t> out = result.u8();
  std::vector<float> line(out_row);
  for (std::size_t y = 0; y < rows.size(); ++y) {
    std::fill(line.begin(), line.end(), 0.0F);
    for (std::size_t k = 0; k < rows[y].weights.size(); ++k)
      for (std::size_t x = 0; x < out_row; ++x)
        line[x] += rows[y].weights[k] * sums[(rows[y].first + k) * out_row + x];
    for (std::size_t x = 0; x < out_row; ++x)
      out[y * out_row + x] = static_cast<std::uint8_t>(std::clamp(std::lround(line[x]), 0L, 255L));
  }
  return result;
}

Image crop_box(const Image& image, double x, double y, double width, double height,
               double context) {
  check_not_empty(image);
  for (const double number : {x, y, width, height, context})
    if (!std::isfinite(number)) throw Error("a box that is not finite cannot be cut out");
  const auto within = [](double value, int end) {
    return static_cast<int>(std::clamp(value, 0.0, static_cast<double>(end)));
  };
  const int left = within(std::floor(x - context), image.width() - 1);
  const int top = within(std::floor(y - context), image.height() - 1);
  const int right = std::max(within(std::ceil(x + width + context), image.width()), left + 1);
  const int bottom = std::max(within(std::ceil(y + height + context), image.height()), top + 1);
  Image result({.height = bottom - top, .width = right - left, .channels = 3});
  const Image rgb = convert(image, 3, 8);
  const std::size_t row = colours * static_cast<std::size_t>(result.width());
  for (int line = 0; line < result.height(); ++line) {
    const std::size_t from =
        colours * (static_cast<std::size_t>(top + line) * static_cast<std::size_t>(image.width()) +
                   static_cast<std::size_t>(left));
    const auto part = rgb.u8().subspan(from, row);
    std::copy(part.begin(), part.end(),
              result.u8().begin() + static_cast<std::ptrdiff_t>(row) * line);
  }
  return result;
}

}  // namespace lockstep::fewshot
