// Reads the tags, strips and tiles of a TIFF page.
#include "recipes/volume/files/tiff/tiff_page.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

constexpr std::uint64_t spare_tile_bytes = std::uint64_t{64} << 20;  // a tile may exceed the page

template <class Number>
Number field(TIFF* tiff, std::uint32_t tag, Number otherwise) {
  Number value = otherwise;
  return TIFFGetFieldDefaulted(tiff, tag, &value) == 1 ? value : otherwise;
}

std::string compression_name(std::uint16_t code) {
  switch (code) {
    case COMPRESSION_CCITTRLE:
    case COMPRESSION_CCITTRLEW:
    case COMPRESSION_CCITTFAX3:
    case COMPRESSION_CCITTFAX4:
      return "CCITT";
    case COMPRESSION_OJPEG:
    case COMPRESSION_JPEG:
      return "JPEG";
    case 33003:
    case 33004:
    case 33005:
    case 34712:
      return "JPEG 2000";
    case COMPRESSION_JBIG:
      return "JBIG";
    case 34887:
      return "LERC";
    case 34925:
      return "LZMA";
    case 50001:
      return "WebP";
    case 50002:
      return "JPEG XL";
    default:
      return cat("number ", code);
  }
}

bool is_read(std::uint16_t compression) {
  switch (compression) {
    case COMPRESSION_NONE:
    case COMPRESSION_LZW:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_PACKBITS:
      return true;
    case 50000:  // zstd, if this libtiff supports it
      return TIFFIsCODECConfigured(compression) != 0;
    default:
      return false;
  }
}

// Whether samples are stored plane after plane. tifffile writes arrays in this way if it takes an
// axis for colours.
bool is_in_planes(TIFF* tiff) {
  return field<std::uint16_t>(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) ==
         PLANARCONFIG_SEPARATE;
}

VoxelType type_of(TIFF* tiff, const Refuse& refuse) {
  const auto bits = field<std::uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE, 1);
  const auto format = field<std::uint16_t>(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  const bool is_signed = format == SAMPLEFORMAT_INT;
  if (format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID || is_signed) {
    if (bits == 8) return is_signed ? VoxelType::i8 : VoxelType::u8;
    if (bits == 16) return is_signed ? VoxelType::i16 : VoxelType::u16;
    if (bits == 32) return is_signed ? VoxelType::i32 : VoxelType::u32;
    if (bits == 64) return is_signed ? VoxelType::i64 : VoxelType::u64;
  }
  if (format == SAMPLEFORMAT_UINT && bits == 1) return VoxelType::u8;
  if (format == SAMPLEFORMAT_IEEEFP && (bits == 16 || bits == 32)) return VoxelType::f32;
  if (format == SAMPLEFORMAT_IEEEFP && bits == 64) return VoxelType::f64;
  const char* const what = format == SAMPLEFORMAT_IEEEFP       ? "float"
                           : format >= SAMPLEFORMAT_COMPLEXINT ? "complex"
                                                               : "integer";
  refuse(cat("its pixels are ", what, " of ", bits, " bits"),
         "1, 8, 16, 32 and 64 bits are read, and float of 16, 32 and 64");
  return VoxelType::u8;
}

TiffPacking packing_of(TIFF* tiff) {
  const auto bits = field<std::uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE, 1);
  const auto format = field<std::uint16_t>(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  if (bits == 1) return TiffPacking::bits;
  return bits == 16 && format == SAMPLEFORMAT_IEEEFP ? TiffPacking::half : TiffPacking::none;
}

// The number of bytes in which `pixels` pixels of a row are stored.
std::int64_t stored_bytes(const TiffPage& page, std::int64_t pixels) {
  switch (page.packing) {
    case TiffPacking::bits:
      return (pixels + 7) / 8;
    case TiffPacking::half:
      return 2 * pixels;
    default:
      return pixels * static_cast<std::int64_t>(bytes_of(page.type));
  }
}

// Converts IEEE 754 binary16 to float.
float from_half(std::uint16_t half) {
  const std::uint32_t exponent = half >> 10 & 0x1F, fraction = half & 0x3FF;
  const float sign = half & 0x8000 ? -1.0F : 1.0F;
  if (exponent == 0x1F)
    return sign * (fraction == 0 ? std::numeric_limits<float>::infinity()
                                 : std::numeric_limits<float>::quiet_NaN());
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), static_cast<int>(exponent) - 25);
}

void unpack(const TiffPage& page, std::span<const std::byte> stored, std::span<std::byte> out) {
  const std::int64_t row_bytes = stored_bytes(page, page.width);
  for (std::int64_t y = 0; y < page.height; ++y) {
    const std::byte* const row = stored.data() + y * row_bytes;
    std::byte* const to =
        out.data() + y * page.width * static_cast<std::int64_t>(bytes_of(page.type));
    for (std::int64_t x = 0; x < page.width; ++x) {
      if (page.packing == TiffPacking::bits) {
        to[x] = row[x / 8] >> (7 - x % 8) & std::byte{1};
        continue;
      }
      std::uint16_t half = 0;
      std::memcpy(&half, row + 2 * x, sizeof half);
      const float value = from_half(half);
      std::memcpy(to + 4 * x, &value, sizeof value);
    }
  }
}

bool read_strips(TIFF* tiff, std::span<std::byte> out) {
  const std::uint32_t strips = TIFFNumberOfStrips(tiff);
  std::size_t done = 0;
  for (std::uint32_t strip = 0; strip < strips && done < out.size(); ++strip) {
    const tmsize_t most = std::min(TIFFStripSize(tiff), static_cast<tmsize_t>(out.size() - done));
    if (most <= 0 || TIFFReadEncodedStrip(tiff, strip, out.data() + done, most) != most)
      return false;
    done += static_cast<std::size_t>(most);
  }
  return done == out.size();
}

bool read_tiles(TIFF* tiff, const TiffPage& page, std::span<std::byte> out) {
  const std::int64_t tile_width = field<std::uint32_t>(tiff, TIFFTAG_TILEWIDTH, 0);
  const std::int64_t tile_height = field<std::uint32_t>(tiff, TIFFTAG_TILELENGTH, 0);
  const std::int64_t row_bytes = stored_bytes(page, page.width);
  const std::int64_t tile_row_bytes = stored_bytes(page, tile_width);
  std::vector<std::byte> tile(static_cast<std::size_t>(TIFFTileSize(tiff)));
  for (std::int64_t y = 0; y < page.height; y += tile_height)
    for (std::int64_t x = 0; x < page.width; x += tile_width) {
      const std::uint32_t number =
          TIFFComputeTile(tiff, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 0, 0);
      const auto bytes = static_cast<tmsize_t>(tile.size());
      if (TIFFReadEncodedTile(tiff, number, tile.data(), bytes) != bytes) return false;
      // Tiles begin at multiples of 16 pixels, so their rows begin at whole bytes.
      const std::int64_t columns = stored_bytes(page, std::min(tile_width, page.width - x));
      for (std::int64_t row = 0; row < std::min(tile_height, page.height - y); ++row)
        std::memcpy(out.data() + (y + row) * row_bytes + stored_bytes(page, x),
                    tile.data() + row * tile_row_bytes, static_cast<std::size_t>(columns));
    }
  return true;
}

}  // namespace

TiffPage describe_page(TIFF* tiff, const Refuse& refuse) {
  const auto compression = field<std::uint16_t>(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  if (!is_read(compression))
    refuse(cat("its compression, ", compression_name(compression), ", is not read"),
           "write it with LZW, deflate, zstd, packbits or none, for example by libtiff's "
           "`tiffcp -c lzw OLD NEW`");
  const auto samples = field<std::uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  std::uint16_t photometric = PHOTOMETRIC_MINISBLACK;
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  if (photometric == PHOTOMETRIC_RGB || photometric == PHOTOMETRIC_YCBCR)
    refuse("it is in colour (RGB)",
           is_in_planes(tiff)
               ? "tifffile takes an array of 3 or 4 planes for colours: write it with "
                 "photometric='minisblack'"
               : "a volume has one value a voxel: convert it to grey, or take one channel");
  if (samples != 1)
    refuse(cat("it has ", samples, " values a pixel"), "a volume has one value a voxel");
  const bool white = photometric == PHOTOMETRIC_MINISWHITE;
  if (!white && photometric != PHOTOMETRIC_MINISBLACK && photometric != PHOTOMETRIC_PALETTE)
    refuse(cat("its photometric interpretation is ", photometric),
           "grey levels and palettes are read");
  return {.height = field<std::uint32_t>(tiff, TIFFTAG_IMAGELENGTH, 0),
          .width = field<std::uint32_t>(tiff, TIFFTAG_IMAGEWIDTH, 0),
          .type = type_of(tiff, refuse),
          .packing = packing_of(tiff),
          .white_is_zero = white,
          .directory = TIFFCurrentDirOffset(tiff)};
}

void check_pixels(TIFF* tiff, const TiffPage& page, std::uint64_t file_bytes,
                  const Refuse& refuse) {
  const bool tiled = TIFFIsTiled(tiff) != 0;
  const std::uint64_t bytes =
      static_cast<std::uint64_t>(page.height * page.width) * bytes_of(page.type);
  const std::uint64_t piece = tiled ? TIFFTileSize64(tiff) : TIFFStripSize64(tiff);
  if (piece == 0 || piece > bytes + spare_tile_bytes)
    refuse(
        cat("its ", tiled ? "tiles" : "strips", " are of ", piece, " bytes, its pages of ", bytes),
        "");
  if (tiled && page.packing == TiffPacking::bits &&
      field<std::uint32_t>(tiff, TIFFTAG_TILEWIDTH, 0) % 8 != 0)
    refuse("its tiles of bits end within a byte", "");
  const std::uint32_t pieces = tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
  for (std::uint32_t i = 0; i < pieces; ++i) {
    const std::uint64_t offset = TIFFGetStrileOffset(tiff, i);
    const std::uint64_t length = TIFFGetStrileByteCount(tiff, i);
    if (offset > file_bytes || length > file_bytes - offset)
      refuse(cat("it is truncated: pixels end at byte ", offset + length, ", the file at ",
                 file_bytes),
             "");
    if (offset == 0 || length == 0) refuse("it is damaged: pixels are missing", "");
  }
}

bool read_pixels(TIFF* tiff, const TiffPage& page, std::span<std::byte> out) {
  const auto read = [&](std::span<std::byte> stored) {
    return TIFFIsTiled(tiff) ? read_tiles(tiff, page, stored) : read_strips(tiff, stored);
  };
  if (page.packing == TiffPacking::none) return read(out);
  std::vector<std::byte> stored(
      static_cast<std::size_t>(page.height * stored_bytes(page, page.width)));
  if (!read(stored)) return false;
  unpack(page, stored, out);
  return true;
}

}  // namespace lockstep::volume
