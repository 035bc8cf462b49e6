// Pictures in files: JPEG and PNG, read within limits and written durably.
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
  // Turns the picture by its EXIF orientation, so that up is up. Use false for annotations made on
  // the stored pixels.
  bool turn = true;
  // Reads a PNG's palette as indices, and fewer than 8 bits as the stored numbers, as class masks
  // need. A JPEG is then an Error: its values only approximate those written.
  bool stored = false;
  PictureLimits limits{};
};

// JPEG: 8 bits, grey or RGB (CMYK becomes RGB). PNG: 8 or 16 bits with the file's channels
// (palettes become RGB, fewer than 8 bits become 8, a transparent colour becomes alpha). Colour
// profiles are not applied. Throws Error naming the file if it cannot be read, has another format,
// is damaged or truncated, or exceeds the limits. Any number of threads.
Image read_picture(const std::filesystem::path& path, const ReadPicture& how = {});
// The same from memory. name: the picture's name in messages.
Image decode_picture(std::string_view bytes, const std::string& name, const ReadPicture& how = {});

// A file's description of its picture, stored before the pixels.
struct PictureHeader {
  ImageShape stored;
  int orientation = 1;  // from EXIF, 1 to 8 (CIPA DC-008, tag 0x0112)
  // A hash of the file's size and its first 16 KiB. It tells files apart without reading them
  // whole.
  std::uint64_t content_hash = 0;

  ImageShape turned() const;  // with `orientation` applied
};
// Reads the first 16 KiB (more if the header is longer) and the end of the file. Throws Error as
// read_picture does, if the file cannot be read, has another format, a damaged header or a missing
// end, or exceeds the limits. Pixels may still be damaged. how.turn is left to the caller. Any
// number of threads.
PictureHeader read_picture_header(const std::filesystem::path& path, const ReadPicture& how = {});

// The shape that read_picture would return, from read_picture_header.
ImageShape read_picture_shape(const std::filesystem::path& path, const ReadPicture& how = {});
ImageShape decode_picture_shape(std::string_view bytes, const std::string& name,
                                const ReadPicture& how = {});

// The bytes of a file that is decoded more than once, within limits.file_bytes. Throws Error.
std::string read_picture_bytes(const std::filesystem::path& path, const PictureLimits& limits = {});

// Takes any Image. Pixels read back are the same.
std::string encode_png(const Image& image);
// quality: 1 to 100. Throws Error unless the picture is grey or RGB with 8 bits.
std::string encode_jpeg(const Image& image, int quality = 90);
// Writes PNG or JPEG by the name's ending (.png, .jpg, .jpeg), whole or not at all. For a JPEG,
// alpha is dropped and 16 bits become 8. Throws Error.
void write_picture(const std::filesystem::path& path, const Image& image, int quality = 90);

}  // namespace lockstep
