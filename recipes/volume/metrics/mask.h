// A binary volume with one bit per voxel, which all metrics use except Dice and IoU. Rows of packed
// bits let them process 64 voxels at once.
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

// Throws Error, which names `what`, if an extent is not positive or above 2^30, or if `count` is
// not the volume's number of voxels.
void check_shape(const char* what, const Shape& shape, std::size_t count);
// Throws Error if a size is not positive and finite.
void check_spacing(const Spacing& spacing);

// Voxels are numbered in the order z, y, x, with x fastest. Bits of a row's last word beyond the
// width are 0.
class Mask {
 public:
  explicit Mask(const Shape& shape);  // all voxels clear

  // Sets the voxels for which is_set(index) is true. index counts voxels in the order of a dense
  // array.
  template <typename IsSet>
  static Mask where(const Shape& shape, IsSet is_set);

  const Shape& shape() const { return shape_; }
  std::int64_t words() const { return words_; }  // of a row
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

  std::int64_t count() const;  // of set voxels
  Mask inverted() const;
  Mask cropped(const Shape& begin, const Shape& end) const;  // [begin, end), within the shape
  void keep_where(const Mask& other);                        // and; of the same shape

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

// Throws Error if they differ.
void check_same_shape(const Mask& truth, const Mask& predicted);

}  // namespace lockstep::volume
