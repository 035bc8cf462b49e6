// The decoders that picture_file.cpp uses, one per format. They hide the libraries libjpeg and
// libpng.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/media/pictures/picture_file.h"

namespace lockstep {

// A picture as it is stored in the file, and the orientation that must be applied to it.
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

// Reads the header of a PNG file, without pixels. begin: the first bytes of the file. Returns
// nothing if the header is longer than `begin`. Throws Error if the header is damaged.
std::optional<StoredPicture> decode_png_header(std::string_view begin, const std::string& name,
                                               const ReadPicture& how);

// Call it for bytes that are neither JPEG nor PNG. Throws Error, which names the format if it is
// known.
[[noreturn]] void refuse_format(const std::string& name, std::string_view bytes);
// Call it for a JPEG if ReadPicture::stored is true. Throws Error, because the values of a JPEG are
// only approximate.
[[noreturn]] void refuse_stored_jpeg(const std::string& name);
// Throw Error if the file or the picture exceeds its limit. name: the name of the picture in the
// message.
void check_file_size(const std::string& name, std::uint64_t bytes, const PictureLimits& limits);
void check_pixels(const std::string& name, std::uint64_t width, std::uint64_t height,
                  const PictureLimits& limits);
[[noreturn]] void damaged_picture(const std::string& name, const std::string& why);

// Returns the orientation in an EXIF block, 1 to 8. Returns 1 if the block has no orientation or is
// damaged. tiff: the block, beginning with its TIFF header.
int exif_orientation(std::string_view tiff);
// Apply an EXIF orientation to a shape and to a picture. Orientation 1 changes nothing.
ImageShape turned(ImageShape shape, int orientation);
Image turned(Image image, int orientation);

}  // namespace lockstep
