// The readers that picture_file uses, one per format. They hide the libraries libjpeg and libpng.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/media/pictures/picture_file.h"

namespace lockstep {

// A picture as it is stored, and the orientation that must be applied to it.
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

// Reads a header from the first bytes of a file, without pixels. Returns nothing if the header is
// longer than these bytes. Throws Error if it is damaged.
std::optional<StoredPicture> decode_png_header(std::string_view begin, const std::string& name,
                                               const ReadPicture& how);

// Throws Error for bytes that are neither JPEG nor PNG. The error names the format if it is known.
[[noreturn]] void refuse_format(const std::string& name, std::string_view bytes);
// Throws Error for a JPEG with ReadPicture::stored, because its values are only approximate.
[[noreturn]] void refuse_stored_jpeg(const std::string& name);
// Throw Error, which names the picture, if it exceeds the limit.
void check_file_size(const std::string& name, std::uint64_t bytes, const PictureLimits& limits);
void check_pixels(const std::string& name, std::uint64_t width, std::uint64_t height,
                  const PictureLimits& limits);
[[noreturn]] void damaged_picture(const std::string& name, const std::string& why);

// Returns the orientation in an EXIF block, 1 to 8. Returns 1 if there is none or the block is
// damaged. tiff: the block, which begins with its TIFF header.
int exif_orientation(std::string_view tiff);
// Return the shape and the picture after the orientation is applied. Orientation 1 changes nothing.
ImageShape turned(ImageShape shape, int orientation);
Image turned(Image image, int orientation);

}  // namespace lockstep
