// Finds the EXIF orientation of a picture and turns the picture by it (CIPA DC-008, tag 0x0112).
#include <cstring>
#include <utility>

#include "core/media/pictures/picture_codecs.h"

namespace lockstep {
namespace {

// Reads numbers of a TIFF block in its byte order. Beyond its end, they are 0.
class Tiff {
 public:
  explicit Tiff(std::string_view bytes) : bytes_(bytes) {}
  bool begin() {
    big_ = bytes_.starts_with("MM");
    return (big_ || bytes_.starts_with("II")) && number(2, 2) == 42;
  }
  std::uint32_t number(std::uint64_t at, int length) const {
    if (at + static_cast<std::uint64_t>(length) > bytes_.size()) return 0;
    std::uint32_t value = 0;
    for (int i = 0; i < length; ++i) {
      const std::uint64_t place = big_ ? at + static_cast<std::uint64_t>(i)
                                       : at + static_cast<std::uint64_t>(length - 1 - i);
      value = value << 8 | static_cast<unsigned char>(bytes_[place]);
    }
    return value;
  }

 private:
  std::string_view bytes_;
  bool big_ = false;
};

// The place in the stored picture, which has `height` x `width` pixels, of a pixel in the turned
// one.
std::pair<int, int> stored_place(int row, int column, int height, int width, int orientation) {
  switch (orientation) {
    case 2:
      return {row, width - 1 - column};
    case 3:
      return {height - 1 - row, width - 1 - column};
    case 4:
      return {height - 1 - row, column};
    case 5:
      return {column, row};
    case 6:
      return {height - 1 - column, row};
    case 7:
      return {height - 1 - column, width - 1 - row};
    case 8:
      return {column, width - 1 - row};
    default:
      return {row, column};
  }
}

template <class Value>
void turn(std::span<const Value> from, const ImageShape& stored, std::span<Value> to,
          const ImageShape& shape, int orientation) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  Value* next = to.data();
  for (int row = 0; row < shape.height; ++row)
    for (int column = 0; column < shape.width; ++column, next += channels) {
      const auto [y, x] = stored_place(row, column, stored.height, stored.width, orientation);
      const std::size_t at = static_cast<std::size_t>(y) * static_cast<std::size_t>(stored.width) +
                             static_cast<std::size_t>(x);
      std::memcpy(next, from.data() + at * channels, channels * sizeof(Value));
    }
}

}  // namespace

int exif_orientation(std::string_view bytes) {
  constexpr std::uint32_t orientation_tag = 0x0112, short_type = 3;
  Tiff tiff(bytes);
  if (!tiff.begin()) return 1;
  const std::uint64_t directory = tiff.number(4, 4);
  const std::uint32_t entries = tiff.number(directory, 2);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::uint64_t entry = directory + 2 + 12ULL * i;
    if (entry + 12 > bytes.size()) return 1;
    if (tiff.number(entry, 2) != orientation_tag) continue;
    const std::uint32_t value = tiff.number(entry + 8, 2);
    return tiff.number(entry + 2, 2) == short_type && value >= 1 && value <= 8
               ? static_cast<int>(value)
               : 1;
  }
  return 1;
}

ImageShape turned(ImageShape shape, int orientation) {
  if (orientation >= 5) std::swap(shape.height, shape.width);
  return shape;
}

Image turned(Image image, int orientation) {
  if (orientation == 1) return image;
  Image to(turned(image.shape(), orientation));
  const Image& from = image;
  if (image.bits() == 8)
    turn(from.u8(), from.shape(), to.u8(), to.shape(), orientation);
  else
    turn(from.u16(), from.shape(), to.u16(), to.shape(), orientation);
  return to;
}

}  // namespace lockstep
