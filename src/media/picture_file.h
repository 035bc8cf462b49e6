// Pictures in files: JPEG and PNG, read within limits and written durably.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "media/image.h"

namespace lockstep {

struct PictureLimits {
  std::uint64_t file_bytes = std::uint64_t{1} << 30;
  std::uint64_t pixels = 200'000'000;  // height x width
};

struct ReadPicture {
  // Turns the picture as its EXIF orientation says, so that up is up. Annotations that were made
  // on the stored pixels want false.
  bool turn = true;
  // A PNG's palette as its indices, and fewer than 8 bits as the numbers that are stored: what
  // masks of classes want. A JPEG is an Error then: its values are near those that were written.
  bool stored = false;
  PictureLimits limits{};
};

// JPEG: 8 bits, grey or RGB (CMYK becomes RGB). PNG: 8 or 16 bits with the channels of the file
// (palettes become RGB, fewer than 8 bits become 8, a transparent colour becomes alpha). Colour
// profiles are not applied. Throws Error, which names the file: it cannot be read, is of another
// kind, is damaged or cut off, or is beyond the limits. Any number of threads.
Image read_picture(const std::filesystem::path& path, const ReadPicture& how = {});
// The same from memory. name: of the picture, for messages.
Image decode_picture(std::string_view bytes, const std::string& name, const ReadPicture& how = {});

// What a file says of its picture before the pixels.
struct PictureHeader {
  ImageShape stored;
  int orientation = 1;  // of EXIF, 1 to 8 (CIPA DC-008, tag 0x0112)

  ImageShape turned() const;  // as `orientation` says
};
// Reads the first 16 KiB (more where the header is longer) and the end of the file. Throws Error as
// read_picture does for a file that cannot be read, is of another kind, has a damaged header, ends
// before its picture does, or is beyond the limits; pixels may still be damaged. how.turn is for
// the caller. Any number of threads.
PictureHeader read_picture_header(const std::filesystem::path& path, const ReadPicture& how = {});

// Its shape after read_picture, by read_picture_header.
ImageShape read_picture_shape(const std::filesystem::path& path, const ReadPicture& how = {});
ImageShape decode_picture_shape(std::string_view bytes, const std::string& name,
                                const ReadPicture& how = {});

// The bytes of a file that is to be decoded more than once, within limits.file_bytes. Throws Error.
std::string read_picture_bytes(const std::filesystem::path& path, const PictureLimits& limits = {});

// Any Image. Pixels read back are the same.
std::string encode_png(const Image& image);
// quality: 1 to 100. Throws Error unless the picture is grey or RGB of 8 bits.
std::string encode_jpeg(const Image& image, int quality = 90);
// As PNG or JPEG by the name's ending (.png, .jpg, .jpeg); whole or not at all. Alpha is dropped
// and 16 bits become 8 where a JPEG cannot hold them. Throws Error.
void write_picture(const std::filesystem::path& path, const Image& image, int quality = 90);

}  // namespace lockstep
