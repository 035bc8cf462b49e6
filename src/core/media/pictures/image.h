// A picture in memory: height x width x channels, contiguous, 8 or 16 bits a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

// Channels: 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha (not premultiplied).
struct ImageShape {
  int height = 0, width = 0, channels = 0, bits = 8;
  std::size_t values() const;  // height x width x channels
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};
std::string describe(const ImageShape& shape);  // "640 x 480, RGB, 8 bits": width first

class Image {
 public:
  Image() = default;
  // All zeros. Throws Error for extents below 1, channels other than 1 to 4, bits other than 8
  // and 16.
  explicit Image(const ImageShape& shape);

  const ImageShape& shape() const { return shape_; }
  int height() const { return shape_.height; }
  int width() const { return shape_.width; }
  int channels() const { return shape_.channels; }
  int bits() const { return shape_.bits; }
  bool empty() const { return shape_.height == 0; }

  // All values in the order [height, width, channels]. Throws Error if the picture has other bits.
  std::span<std::uint8_t> u8();
  std::span<const std::uint8_t> u8() const;
  std::span<std::uint16_t> u16();
  std::span<const std::uint16_t> u16() const;

  friend bool operator==(const Image&, const Image&) = default;

 private:
  ImageShape shape_;
  std::vector<std::uint8_t> u8_;    // only one of the two is filled
  std::vector<std::uint16_t> u16_;  // in the machine's byte order
};

// The picture converted to other channels and bits. Grey becomes RGB by repetition; RGB becomes
// grey by ITU-R BT.601, as in JPEG. Unwanted alpha is dropped; missing alpha becomes opaque. 8 bits
// become 16 by x 257; 16 become 8 by rounding. Throws Error for values that ImageShape does not
// allow.
Image convert(const Image& image, int channels, int bits);

}  // namespace lockstep
