// A picture in memory: values [height, width, channels], contiguous, with 8 or 16 bits per value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

// channels: 1 is grey, 2 is grey and alpha, 3 is RGB, 4 is RGB and alpha. Alpha is not
// premultiplied.
struct ImageShape {
  int height = 0, width = 0, channels = 0, bits = 8;
  std::size_t values() const;  // height x width x channels
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};
std::string describe(const ImageShape& shape);  // "640 x 480, RGB, 8 bits", with the width first

class Image {
 public:
  Image() = default;
  // Makes a picture of zeros. Throws Error unless height and width are at least 1, channels is 1 to
  // 4, and bits is 8 or 16.
  explicit Image(const ImageShape& shape);

  const ImageShape& shape() const { return shape_; }
  int height() const { return shape_.height; }
  int width() const { return shape_.width; }
  int channels() const { return shape_.channels; }
  int bits() const { return shape_.bits; }
  bool empty() const { return shape_.height == 0; }

  // Return all values in the order [height, width, channels]. u8 throws Error unless `bits` is 8,
  // and u16 unless it is 16.
  std::span<std::uint8_t> u8();
  std::span<const std::uint8_t> u8() const;
  std::span<std::uint16_t> u16();
  std::span<const std::uint16_t> u16() const;

  friend bool operator==(const Image&, const Image&) = default;

 private:
  ImageShape shape_;
  std::vector<std::uint8_t> u8_;    // only u8_ or u16_ is filled, depending on `bits`
  std::vector<std::uint16_t> u16_;  // in the machine's byte order
};

// Converts a picture to these channels and bits. A grey value is repeated for RGB. RGB becomes grey
// by ITU-R BT.601, as in JPEG. Alpha is removed if `channels` has no alpha, and added as opaque if
// the picture has none. For 16 bits, 8-bit values are multiplied by 257. For 8 bits, 16-bit values
// are scaled and rounded. Throws Error unless `channels` is 1 to 4, and `bits` is 8 or 16.
Image convert(const Image& image, int channels, int bits);

}  // namespace lockstep
