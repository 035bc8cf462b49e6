#include "recipes/volume/metrics/distance.h"

#include <algorithm>

namespace lockstep::volume {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

// Computes the squared distance to the nearest set bit for each position of a row.
void scan_row(std::span<const std::uint64_t> bits, std::span<float> out, double size, float limit) {
  constexpr std::int64_t far = std::int64_t{1} << 40;
  const auto width = static_cast<std::int64_t>(out.size());
  const auto is_set = [&](std::int64_t x) {
    return bits[static_cast<std::size_t>(x / 64)] >> (x % 64) & 1;
  };
  std::int64_t last = -far;
  for (std::int64_t x = 0; x < width; ++x) {
    if (is_set(x)) last = x;
    out[static_cast<std::size_t>(x)] = static_cast<float>(x - last);
  }
  last = far;
  for (std::int64_t x = width - 1; x >= 0; --x) {
    if (is_set(x)) last = x;
    float& value = out[static_cast<std::size_t>(x)];
    const double steps = std::min<double>(value, static_cast<double>(last - x));
    value = static_cast<float>(steps * size * steps * size);
    if (steps > static_cast<double>(width) || value > limit) value = infinite;
  }
}

// The lower envelope of the parabolas weight*(x-i)^2 + values[i] over a line. Buffers are reused
// between lines.
class Envelope {
 public:
  explicit Envelope(std::int64_t longest)
      : centre_(static_cast<std::size_t>(longest)),
        height_(centre_.size()),
        from_(centre_.size()) {}

  void apply(std::span<float> values, double weight, float limit) {
    const std::size_t parabolas = build(values, weight);
    if (parabolas == 0) return;
    std::size_t k = 0;
    for (std::size_t x = 0; x < values.size(); ++x) {
      const auto place = static_cast<double>(x);
      while (k + 1 < parabolas && from_[k + 1] < place) ++k;
      const double steps = place - centre_[k];
      const auto value = static_cast<float>(height_[k] + weight * steps * steps);
      values[x] = value > limit ? infinite : value;
    }
  }

 private:
  // Parabola k is the lowest one between from_[k] and from_[k+1].
  std::size_t build(std::span<const float> values, double weight) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == infinite) continue;
      const auto centre = static_cast<double>(i);
      const double height = values[i];
      double start = -std::numeric_limits<double>::infinity();
      while (count > 0) {
        const double apart = centre - centre_[count - 1];
        start = (centre + centre_[count - 1]) / 2 +
                (height - height_[count - 1]) / (2 * weight * apart);
        if (start > from_[count - 1]) break;
        --count;
        start = -std::numeric_limits<double>::infinity();
      }
      centre_[count] = centre;
      height_[count] = height;
      from_[count++] = start;
    }
    return count;
  }

  std::vector<double> centre_;
  std::vector<double> height_;
  std::vector<double> from_;
};

constexpr std::int64_t block = 16;  // number of neighbouring lines that are copied together

// Transforms `lines` lines of `length` values each. Line i starts at base + i, and its values are
// `stride` apart.
void transform_lines(float* base, std::int64_t lines, std::int64_t length, std::int64_t stride,
                     double weight, float limit, Envelope& envelope, std::vector<float>& copy) {
  for (std::int64_t first = 0; first < lines; first += block) {
    const std::int64_t count = std::min(block, lines - first);
    for (std::int64_t i = 0; i < length; ++i)
      for (std::int64_t j = 0; j < count; ++j)
        copy[static_cast<std::size_t>(j * length + i)] = base[i * stride + first + j];
    for (std::int64_t j = 0; j < count; ++j)
      envelope.apply({copy.data() + j * length, static_cast<std::size_t>(length)}, weight, limit);
    for (std::int64_t i = 0; i < length; ++i)
      for (std::int64_t j = 0; j < count; ++j)
        base[i * stride + first + j] = copy[static_cast<std::size_t>(j * length + i)];
  }
}

}  // namespace

std::vector<float> squared_distances(const Mask& mask, const Spacing& spacing, double limit) {
  check_spacing(spacing);
  const auto [depth, height, width] = mask.shape();
  const auto squared_limit = static_cast<float>(limit * limit);
  std::vector<float> result(static_cast<std::size_t>(voxel_count(mask.shape())));
  const std::int64_t longest = std::max(depth, height);
  Envelope envelope(longest);
  std::vector<float> copy(static_cast<std::size_t>(longest * block));
  for (std::int64_t z = 0; z < depth; ++z) {
    float* plane = result.data() + z * height * width;
    for (std::int64_t y = 0; y < height; ++y)
      scan_row(mask.row(z, y), {plane + y * width, static_cast<std::size_t>(width)}, spacing[2],
               squared_limit);
    transform_lines(plane, width, height, width, spacing[1] * spacing[1], squared_limit, envelope,
                    copy);
  }
  transform_lines(result.data(), height * width, depth, height * width, spacing[0] * spacing[0],
                  squared_limit, envelope, copy);
  return result;
}

}  // namespace lockstep::volume
