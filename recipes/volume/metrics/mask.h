// A binary volume with one bit per voxel. All metrics except Dice and IoU use it, because they can
// process 64 packed bits at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::volume {

using Shape = std::array<std::int64_t, 3>;  // depth, height, width
using Spacing = std::array<double, 3>;      // size of a voxel along depth, height, width; any unit

std::int64_t voxel_count(const Shape& shape);

// Throws Error if an extent is below 1 or above 2^30. Also throws Error if `count` is not the
// number of voxels of the shape. what: the name of the volume, for messages.
void check_shape(const char* what, const Shape& shape, std::size_t count);
// Throws Error if one of the three numbers is not positive and finite.
void check_spacing(const Spacing& spacing);

// The voxels of a row are bits of consecutive words, with the first voxel in the lowest bit. In the
// last word of a row, the bits beyond the width are 0.
class Mask {
 public:
  explicit Mask(const Shape& shape);  // no voxel is set

  // Returns a mask in which the voxels with is_set(index) are set. The index counts voxels as in a
  // dense array [depth, height, width].
  template <typename IsSet>
  static Mask where(const Shape& shape, IsSet is_set);

  const Shape& shape() const { return shape_; }
  std::int64_t words() const { return words_; }  // number of words per row
  std::span<std::uint64_t> row(std::int64_t z, std::int64_t y) {
    return {bits_.data() + (z * shape_[1] + y) * words_, static_cast<std::size_t>(words_)};
  }
  std::span<const std::uint64_t> row(std::int64_t z, std::int64_t y) const {
    return {bits_.data() + (z * shape_[1] + y) * words_, static_cast<std::size_t>(words_)};
  }
  bool at(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return row(z, y)[static_cast<std::size_t>(x / 64)] >> (x % 64) & 1;
  }
  void set(std::int64_t z, std::int64_t y, std::int64_t x) {
    row(z, y)[static_cast<std::size_t>(x / 64)] |= std::uint64_t{1} << (x % 64);
  }
  void set_run(std::int64_t z, std::int64_t y, std::int64_t begin, std::int64_t end);

  std::int64_t count() const;  // number of set voxels
  Mask inverted() const;
  // Returns the box [begin, end), which must lie within the shape.
  Mask cropped(const Shape& begin, const Shape& end) const;
  // Clears the voxels that are not set in `other`. The shapes must be equal.
  void keep_where(const Mask& other);

 private:
  Shape shape_;
  std::int64_t words_;
  std::vector<std::uint64_t> bits_;
};

template <typename IsSet>
Mask Mask::where(const Shape& shape, IsSet is_set) {
  Mask mask(shape);
  std::size_t index = 0;
  for (std::int64_t z = 0; z < shape[0]; ++z)
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      const auto bits = mask.row(z, y);
      for (std::int64_t begin = 0; begin < shape[2]; begin += 64) {
        const std::int64_t voxels = shape[2] - begin < 64 ? shape[2] - begin : 64;
        std::uint64_t word = 0;
        for (std::int64_t x = 0; x < voxels; ++x)
          word |= static_cast<std::uint64_t>(static_cast<bool>(is_set(index++))) << x;
        bits[static_cast<std::size_t>(begin / 64)] = word;
      }
    }
  return mask;
}

// Throws Error if the shapes differ.
void check_same_shape(const Mask& truth, const Mask& predicted);

}  // namespace lockstep::volume
