#include "core/media/pictures/image.h"

#include <array>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr std::array channel_names{"grey", "grey and alpha", "RGB", "RGB and alpha"};

std::string channels_text(int channels) {
  return channels >= 1 && channels <= 4 ? channel_names[static_cast<std::size_t>(channels) - 1]
                                        : cat(channels, " channels");
}

[[noreturn]] void other_bits(const ImageShape& shape, int wanted) {
  throw Error(cat("the picture must have ", wanted, " bits, but is ", describe(shape)),
              "convert it first");
}

template <class Value>
constexpr std::uint32_t opaque = sizeof(Value) == 1 ? 255 : 65535;

template <class To, class From>
To rescaled(From value) {
  if constexpr (sizeof(To) == sizeof(From)) return value;
  if constexpr (sizeof(To) > sizeof(From)) return static_cast<To>(value * 257U);
  return static_cast<To>((value + 128U) / 257U);
}

// Converts one pixel. Both formats have 1 to 4 channels.
template <class From, class To>
void convert_pixel(const From* from, int from_channels, To* to, int to_channels) {
  const bool colour = from_channels >= 3, wants_colour = to_channels >= 3;
  if (wants_colour) {
    for (int c = 0; c < 3; ++c) to[c] = rescaled<To>(from[colour ? c : 0]);
  } else if (colour) {
    // The weights of BT.601, in units of 1/65536. They add up to 1.
    const std::uint64_t grey =
        19595ULL * from[0] + 38470ULL * from[1] + 7471ULL * from[2] + 32768ULL;
    to[0] = rescaled<To>(static_cast<From>(grey >> 16));
  } else {
    to[0] = rescaled<To>(from[0]);
  }
  if (to_channels % 2 != 0) return;
  to[to_channels - 1] =
      from_channels % 2 == 0 ? rescaled<To>(from[from_channels - 1]) : static_cast<To>(opaque<To>);
}

template <class From, class To>
void convert_all(std::span<const From> from, int from_channels, std::span<To> to, int to_channels) {
  const std::size_t pixels = to.size() / static_cast<std::size_t>(to_channels);
  for (std::size_t i = 0; i < pixels; ++i)
    convert_pixel(from.data() + i * static_cast<std::size_t>(from_channels), from_channels,
                  to.data() + i * static_cast<std::size_t>(to_channels), to_channels);
}

}  // namespace

std::size_t ImageShape::values() const {
  return static_cast<std::size_t>(height) * static_cast<std::size_t>(width) *
         static_cast<std::size_t>(channels);
}

std::string describe(const ImageShape& shape) {
  return cat(shape.width, " x ", shape.height, ", ", channels_text(shape.channels), ", ",
             shape.bits, " bits");
}

Image::Image(const ImageShape& shape) : shape_(shape) {
  if (shape.height < 1 || shape.width < 1 || shape.channels < 1 || shape.channels > 4 ||
      (shape.bits != 8 && shape.bits != 16))
    throw Error(cat("there is no picture of ", describe(shape)),
                "it has 1 to 4 channels of 8 or 16 bits, and at least one pixel");
  if (shape.bits == 8)
    u8_.resize(shape.values());
  else
    u16_.resize(shape.values());
}

std::span<std::uint8_t> Image::u8() {
  if (shape_.bits != 8) other_bits(shape_, 8);
  return u8_;
}
std::span<const std::uint8_t> Image::u8() const {
  if (shape_.bits != 8) other_bits(shape_, 8);
  return u8_;
}
std::span<std::uint16_t> Image::u16() {
  if (shape_.bits != 16) other_bits(shape_, 16);
  return u16_;
}
std::span<const std::uint16_t> Image::u16() const {
  if (shape_.bits != 16) other_bits(shape_, 16);
  return u16_;
}

Image convert(const Image& image, int channels, int bits) {
  ImageShape shape = image.shape();
  shape.channels = channels;
  shape.bits = bits;
  Image to(shape);
  if (image.bits() == 8 && bits == 8)
    convert_all(image.u8(), image.channels(), to.u8(), channels);
  else if (image.bits() == 8)
    convert_all(image.u8(), image.channels(), to.u16(), channels);
  else if (bits == 8)
    convert_all(image.u16(), image.channels(), to.u8(), channels);
  else
    convert_all(image.u16(), image.channels(), to.u16(), channels);
  return to;
}

}  // namespace lockstep
