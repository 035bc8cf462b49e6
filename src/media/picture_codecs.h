// What picture_file is made of: one reader a format, behind which the libraries stay.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "media/picture_file.h"

namespace lockstep {

// A picture as it is stored, with how it is to be turned.
struct StoredPicture {
  ImageShape shape;
  int orientation = 1;  // of EXIF, 1 to 8
  Image image;          // empty if only the shape was asked for
};

bool is_jpeg(std::string_view bytes);
bool is_png(std::string_view bytes);
StoredPicture decode_jpeg(std::string_view bytes, const std::string& name,
                          const PictureLimits& limits, bool pixels);
StoredPicture decode_png(std::string_view bytes, const std::string& name, const ReadPicture& how,
                         bool pixels);

// Of a file of which only the first bytes are there, without pixels; nothing: the header goes
// beyond them. Throws Error.
std::optional<StoredPicture> decode_png_header(std::string_view begin, const std::string& name,
                                               const ReadPicture& how);

// Throws Error: bytes are of no format that is read; it names the format where it is a known one.
[[noreturn]] void refuse_format(const std::string& name, std::string_view bytes);
// Throws Error: a JPEG has no values that are stored (ReadPicture::stored).
[[noreturn]] void refuse_stored_jpeg(const std::string& name);
// These throw Error, which names the picture, beyond the limit.
void check_file_size(const std::string& name, std::uint64_t bytes, const PictureLimits& limits);
void check_pixels(const std::string& name, std::uint64_t width, std::uint64_t height,
                  const PictureLimits& limits);
[[noreturn]] void damaged_picture(const std::string& name, const std::string& why);

// The orientation of an EXIF block (which begins with its TIFF header): 1 to 8, or 1 where it says
// none or is damaged.
int exif_orientation(std::string_view tiff);
// The shape and the picture turned by such an orientation; 1 leaves it.
ImageShape turned(ImageShape shape, int orientation);
Image turned(Image image, int orientation);

}  // namespace lockstep
