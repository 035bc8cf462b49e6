// Reads pictures from JPEG and PNG files, within limits. Writes such files durably.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/media/pictures/image.h"

namespace lockstep {

struct PictureLimits {
  std::uint64_t file_bytes = std::uint64_t{1} << 30;
  std::uint64_t pixels = 200'000'000;  // height x width
};

struct ReadPicture {
  // Whether to turn the picture by its EXIF orientation, so that it is upright. Use false if
  // annotations belong to the stored pixels.
  bool turn = true;
  // Whether to read the stored numbers, as class masks need. A palette of a PNG is then read as
  // indices, and values of fewer than 8 bits are not scaled. A JPEG is then an Error, because its
  // values are only approximate.
  bool stored = false;
  PictureLimits limits{};
};

// Reads a picture. The result depends on the format:
// - JPEG: 8 bits, grey or RGB. CMYK becomes RGB.
// - PNG: 8 or 16 bits with the channels of the file. Palettes become RGB, fewer than 8 bits become
//   8, and a transparent colour becomes alpha.
// Colour profiles are not applied. Throws Error, which names the file, if it cannot be read, has
// another format, is damaged or truncated, or exceeds the limits. May be called on any number of
// threads.
Image read_picture(const std::filesystem::path& path, const ReadPicture& how = {});
// Reads a picture from memory in the same way. name: the name of the picture in messages.
Image decode_picture(std::string_view bytes, const std::string& name, const ReadPicture& how = {});

// The header of a picture file, which is stored before the pixels.
struct PictureHeader {
  ImageShape stored;
  int orientation = 1;  // from EXIF, 1 to 8 (CIPA DC-008, tag 0x0112)
  // A hash of the file's size and its first 16 KiB. It distinguishes files without reading them
  // completely.
  std::uint64_t content_hash = 0;

  ImageShape turned() const;  // shape after `orientation` is applied
};
// Reads the first 16 KiB of the file, or more if the header is longer, and its end. Throws Error,
// which names the file, if it cannot be read, has another format, a damaged header or no end, or
// exceeds the limits. Pixels may still be damaged. how.turn is not used. May be called on any
// number of threads.
PictureHeader read_picture_header(const std::filesystem::path& path, const ReadPicture& how = {});

// Returns the shape that read_picture would return. Reads only the header.
ImageShape read_picture_shape(const std::filesystem::path& path, const ReadPicture& how = {});
ImageShape decode_picture_shape(std::string_view bytes, const std::string& name,
                                const ReadPicture& how = {});

// Returns the bytes of a file, for pictures that are decoded more than once. Throws Error if it
// cannot be read or exceeds limits.file_bytes.
std::string read_picture_bytes(const std::filesystem::path& path, const PictureLimits& limits = {});

// Encodes any Image as PNG. The pixels that are read back are the same.
std::string encode_png(const Image& image);
// Encodes a picture as JPEG. quality: 1 to 100. Throws Error unless the picture is grey or RGB with
// 8 bits.
std::string encode_jpeg(const Image& image, int quality = 90);
// Writes a PNG or JPEG file, depending on the extension (.png, .jpg, .jpeg). The file is written
// completely or not at all. For a JPEG, alpha is removed, and 16 bits become 8. Throws Error for
// another extension, and if the file cannot be written.
void write_picture(const std::filesystem::path& path, const Image& image, int quality = 90);

}  // namespace lockstep
