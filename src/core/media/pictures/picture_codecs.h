// The readers behind picture_file, one per format, which hide the libraries.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/media/pictures/picture_file.h"

namespace lockstep {

// A picture as stored, with the orientation to apply.
struct StoredPicture {
  ImageShape shape;
  int orientation = 1;  // from EXIF, 1 to 8
  Image image;          // empty if only the shape was requested
};

bool is_jpeg(std::string_view bytes);
bool is_png(std::string_view bytes);
StoredPicture decode_jpeg(std::string_view bytes, const std::string& name,
                          const PictureLimits& limits, bool pixels);
StoredPicture decode_png(std::string_view bytes, const std::string& name, const ReadPicture& how,
                         bool pixels);

// Reads a header from the first bytes of a file, without pixels. Nothing: the header extends beyond
// them. Throws Error.
std::optional<StoredPicture> decode_png_header(std::string_view begin, const std::string& name,
                                               const ReadPicture& how);

// Throws Error for bytes in no readable format, naming the format if it is known.
[[noreturn]] void refuse_format(const std::string& name, std::string_view bytes);
// Throws Error: a JPEG has no stored values (ReadPicture::stored).
[[noreturn]] void refuse_stored_jpeg(const std::string& name);
// Throw Error above the limit, naming the picture.
void check_file_size(const std::string& name, std::uint64_t bytes, const PictureLimits& limits);
void check_pixels(const std::string& name, std::uint64_t width, std::uint64_t height,
                  const PictureLimits& limits);
[[noreturn]] void damaged_picture(const std::string& name, const std::string& why);

// The orientation in an EXIF block (which begins with its TIFF header): 1 to 8, or 1 if it has none
// or is damaged.
int exif_orientation(std::string_view tiff);
// The shape and the picture with that orientation applied; 1 changes nothing.
ImageShape turned(ImageShape shape, int orientation);
Image turned(Image image, int orientation);

}  // namespace lockstep
