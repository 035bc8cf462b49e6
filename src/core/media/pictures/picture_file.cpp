#include "core/media/pictures/picture_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/media/pictures/picture_codecs.h"

namespace lockstep {
namespace {

StoredPicture decode(std::string_view bytes, const std::string& name, const ReadPicture& how,
                     bool pixels) {
  if (is_png(bytes)) return decode_png(bytes, name, how, pixels);
  if (is_jpeg(bytes) && how.stored) refuse_stored_jpeg(name);
  if (is_jpeg(bytes)) return decode_jpeg(bytes, name, how.limits, pixels);
  refuse_format(name, bytes);
}

}  // namespace

std::string read_picture_bytes(const std::filesystem::path& path, const PictureLimits& limits) {
  // A file that grows while it is read is not handled specially.
  const UniqueFd fd = open_regular_file(path);
  struct stat info {};
  if (::fstat(fd.get(), &info) == 0)
    check_file_size(path.string(), static_cast<std::uint64_t>(info.st_size), limits);
  return read_file(path, data_bytes);
}

void check_file_size(const std::string& name, std::uint64_t bytes, const PictureLimits& limits) {
  if (bytes <= limits.file_bytes) return;
  throw Error(
      cat(name, " has ", format_bytes(static_cast<double>(bytes)), ", and a picture may have ",
          format_bytes(static_cast<double>(limits.file_bytes))),
      "take it out, or make it smaller");
}

void check_pixels(const std::string& name, std::uint64_t width, std::uint64_t height,
                  const PictureLimits& limits) {
  if (width == 0 || height == 0) damaged_picture(name, "it has no pixels");
  if (width <= limits.pixels / height) return;
  throw Error(
      cat(name, " has ", width, " x ", height, " pixels, and a picture may have ", limits.pixels),
      "make it smaller, or cut it into pieces");
}

void refuse_stored_jpeg(const std::string& name) {
  throw Error(cat(name, " is a JPEG, which keeps values roughly"),
              "write masks and labels as PNG or TIFF");
}

void damaged_picture(const std::string& name, const std::string& why) {
  throw Error(cat(name, " is damaged: ", printable(why)), "get the file anew, or take it out");
}

Image decode_picture(std::string_view bytes, const std::string& name, const ReadPicture& how) {
  StoredPicture stored = decode(bytes, name, how, /*pixels=*/true);
  return how.turn ? turned(std::move(stored.image), stored.orientation) : std::move(stored.image);
}

ImageShape decode_picture_shape(std::string_view bytes, const std::string& name,
                                const ReadPicture& how) {
  const StoredPicture stored = decode(bytes, name, how, /*pixels=*/false);
  return how.turn ? turned(stored.shape, stored.orientation) : stored.shape;
}

Image read_picture(const std::filesystem::path& path, const ReadPicture& how) {
  return decode_picture(read_picture_bytes(path, how.limits), path.string(), how);
}

ImageShape read_picture_shape(const std::filesystem::path& path, const ReadPicture& how) {
  const PictureHeader header = read_picture_header(path, how);
  return how.turn ? header.turned() : header.stored;
}

void write_picture(const std::filesystem::path& path, const Image& image, int quality) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (ending == ".png") return write_file_atomic(path, encode_png(image));
  if (ending != ".jpg" && ending != ".jpeg")
    throw Error(
        cat("a picture is written as PNG or JPEG, but ", path.string(), " is named neither"),
        "let the name end in .png or .jpg");
  const int channels = image.channels() >= 3 ? 3 : 1;
  const bool fits = image.channels() == channels && image.bits() == 8;
  write_file_atomic(path, encode_jpeg(fits ? image : convert(image, channels, 8), quality));
}

}  // namespace lockstep
