// Reads pictures from JPEG and PNG files, with limits on their size. Writes such files durably.
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
  // annotations have coordinates of the stored pixels.
  bool turn = true;
  // Whether to read the numbers that are stored in a PNG, as is needed for class masks. If true, a
  // palette is read as indexes, and values of fewer than 8 bits are not scaled. A JPEG is then
  // refused with an Error, because its values are only approximate.
  bool stored = false;
  PictureLimits limits{};
};

// Reads a picture. The result depends on the format:
// - JPEG: 8 bits, grey or RGB. CMYK becomes RGB.
// - PNG: 8 or 16 bits, with the channels of the file. A palette becomes RGB, values of fewer than 8
//   bits become 8 bits, and a transparent colour becomes alpha.
// Colour profiles are not applied. Throws Error if the file cannot be read, has another format, is
// damaged or truncated, or exceeds the limits. The message names the file. Several threads may call
// it at the same time.
Image read_picture(const std::filesystem::path& path, const ReadPicture& how = {});
// Reads a picture from memory in the same way. name: the name of the picture in messages.
Image decode_picture(std::string_view bytes, const std::string& name, const ReadPicture& how = {});

// The data that read_picture_header finds without reading pixels.
struct PictureHeader {
  ImageShape stored;
  int orientation = 1;  // from EXIF, 1 to 8 (CIPA DC-008, tag 0x0112)
  // A hash of the file's size and its first 16 KiB. It tells files apart without reading them
  // completely.
  std::uint64_t content_hash = 0;

  ImageShape turned() const;  // shape after `orientation` is applied
};
// Reads the first 16 KiB of the file, or more if the header is longer, and the last bytes. Throws
// Error if the file cannot be read, has another format, has a damaged header, is truncated, or
// exceeds the limits. The message names the file. Pixels are not checked. how.turn is not used.
// Several threads may call it at the same time.
PictureHeader read_picture_header(const std::filesystem::path& path, const ReadPicture& how = {});

// Returns the shape of the picture that read_picture would return. Reads only the header.
ImageShape read_picture_shape(const std::filesystem::path& path, const ReadPicture& how = {});
ImageShape decode_picture_shape(std::string_view bytes, const std::string& name,
                                const ReadPicture& how = {});

// Returns the bytes of a file, for callers that decode the picture more than once. Throws Error if
// the file cannot be read or exceeds limits.file_bytes.
std::string read_picture_bytes(const std::filesystem::path& path, const PictureLimits& limits = {});

// Encodes a picture of any shape as PNG, without loss.
std::string encode_png(const Image& image);
// Encodes a picture as JPEG. quality: 1 to 100. Throws Error unless the picture is grey or RGB with
// 8 bits.
std::string encode_jpeg(const Image& image, int quality = 90);
// Writes a PNG or JPEG file, depending on the extension (.png, .jpg, .jpeg). The file is written
// completely or not at all. For a JPEG, alpha is removed, and 16 bits become 8. Throws Error if
// `path` has another extension, or if the file cannot be written.
void write_picture(const std::filesystem::path& path, const Image& image, int quality = 90);

}  // namespace lockstep
