#include "recipes/volume/metrics/mask.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

constexpr std::int64_t largest_extent = std::int64_t{1} << 30;

// The bits of a row's last word that are voxels.
std::uint64_t last_word(std::int64_t width) {
  return width % 64 == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << (width % 64)) - 1;
}

}  // namespace

std::int64_t voxel_count(const Shape& shape) { return shape[0] * shape[1] * shape[2]; }

void check_shape(const char* what, const Shape& shape, std::size_t count) {
  const std::string size = cat(shape[0], " x ", shape[1], " x ", shape[2]);
  for (const std::int64_t extent : shape)
    if (extent < 1 || extent > largest_extent)
      throw Error(cat(what, ": a volume of ", size, " voxels cannot be"),
                  "depth, height and width are at least 1");
  const auto plane = static_cast<std::size_t>(shape[1] * shape[2]);
  if (count % plane != 0 || count / plane != static_cast<std::size_t>(shape[0]))
    throw Error(cat(what, " has ", count, " voxels, which is not ", size),
                "truth and prediction must be volumes of the same depth, height and width");
}

void check_spacing(const Spacing& spacing) {
  for (const double size : spacing)
    if (!std::isfinite(size) || size <= 0)
      throw Error(cat("the spacing ", spacing[0], " ", spacing[1], " ", spacing[2], " cannot be"),
                  "the size of a voxel along depth, height and width is above 0");
}

Mask::Mask(const Shape& shape) : shape_(shape), words_((shape[2] + 63) / 64) {
  bits_.resize(static_cast<std::size_t>(shape[0] * shape[1] * words_));
}

void Mask::set_run(std::int64_t z, std::int64_t y, std::int64_t begin, std::int64_t end) {
  const auto bits = row(z, y);
  for (std::int64_t x = begin; x < end;) {
    const std::int64_t stop = std::min(end, (x / 64 + 1) * 64);
    const std::uint64_t ones = last_word(stop - x);
    bits[static_cast<std::size_t>(x / 64)] |= ones << (x % 64);
    x = stop;
  }
}

std::int64_t Mask::count() const {
  std::int64_t sum = 0;
  for (const std::uint64_t word : bits_) sum += std::popcount(word);
  return sum;
}

Mask Mask::inverted() const {
  Mask result = *this;
  const std::uint64_t last = last_word(shape_[2]);
  for (std::size_t i = 0; i < bits_.size(); ++i)
    result.bits_[i] =
        ~bits_[i] & ((i + 1) % static_cast<std::size_t>(words_) == 0 ? last : ~std::uint64_t{0});
  return result;
}

Mask Mask::cropped(const Shape& begin, const Shape& end) const {
  Mask result({end[0] - begin[0], end[1] - begin[1], end[2] - begin[2]});
  const auto first = static_cast<std::size_t>(begin[2] / 64);
  const int shift = static_cast<int>(begin[2] % 64);
  for (std::int64_t z = 0; z < result.shape_[0]; ++z)
    for (std::int64_t y = 0; y < result.shape_[1]; ++y) {
      const auto from = row(begin[0] + z, begin[1] + y);
      const auto to = result.row(z, y);
      for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = from[first + i] >> shift;
        if (shift != 0 && first + i + 1 < from.size()) to[i] |= from[first + i + 1] << (64 - shift);
      }
      to.back() &= last_word(result.shape_[2]);
    }
  return result;
}

void Mask::keep_where(const Mask& other) {
  LOCKSTEP_CHECK(other.shape_ == shape_);
  for (std::size_t i = 0; i < bits_.size(); ++i) bits_[i] &= other.bits_[i];
}

void check_same_shape(const Mask& truth, const Mask& predicted) {
  const auto size = [](const Shape& s) { return cat(s[0], " x ", s[1], " x ", s[2]); };
  if (truth.shape() != predicted.shape())
    throw Error(
        cat("the truth is ", size(truth.shape()), ", the prediction ", size(predicted.shape())),
        "truth and prediction must be volumes of the same depth, height and width");
}

}  // namespace lockstep::volume
