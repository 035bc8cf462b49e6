// Reads and writes PNG with libpng. Its errors use longjmp, so no variable with a destructor may
// live between setjmp and a call of the library.
#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstring>
#include <limits>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/media/pictures/picture_codecs.h"

namespace lockstep {
namespace {

constexpr int swaps_16 = std::endian::native == std::endian::little;
constexpr std::size_t message_bytes = 200;

struct Source {
  std::string_view rest;
  char message[message_bytes] = "";
};

[[noreturn]] void leave(png_structp png, png_const_charp message) {
  auto* source = static_cast<Source*>(png_get_error_ptr(png));
  std::strncpy(source->message, message, message_bytes - 1);
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

void take(png_structp png, png_bytep to, std::size_t bytes) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (source->rest.size() < bytes) png_error(png, "it ends too early");
  std::memcpy(to, source->rest.data(), bytes);
  source->rest.remove_prefix(bytes);
}

// Whether all chunks up to the last one end within the file. libpng allocates the size that a chunk
// states, and ignores the limit for some chunks.
bool chunks_fit(std::string_view bytes) {
  constexpr std::size_t signature = 8, around = 12;  // length, name and checksum of a chunk
  for (std::size_t at = signature; at + around <= bytes.size();) {
    std::size_t length = 0;
    for (std::size_t i = at; i < at + 4; ++i)
      length = length << 8 | static_cast<unsigned char>(bytes[i]);
    if (length > bytes.size() - at - around) return false;
    if (bytes.substr(at + 4, 4) == "IEND") return true;
    at += around + length;
  }
  return false;
}

// Whether the chunks before the pixels lie within `bytes`, the beginning of a file.
bool has_png_header(std::string_view bytes) {
  constexpr std::size_t signature = 8, around = 12;
  for (std::size_t at = signature; at + 8 <= bytes.size();) {
    if (bytes.substr(at + 4, 4) == "IDAT") return true;
    std::size_t length = 0;
    for (std::size_t i = at; i < at + 4; ++i)
      length = length << 8 | static_cast<unsigned char>(bytes[i]);
    if (bytes.size() - at < around || length > bytes.size() - at - around) return false;
    at += around + length;
  }
  return false;
}

class Reader {
 public:
  Reader(std::string_view bytes, std::string name) : source_{bytes}, name_(std::move(name)) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source_, leave, ignore_warning);
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) damaged_picture(name_, "out of memory");
  }
  ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  StoredPicture decode(const ReadPicture& how, bool pixels) {
    if (!read_header()) damaged_picture(name_, source_.message);
    const std::uint64_t width = png_get_image_width(png_, info_),
                        height = png_get_image_height(png_, info_);
    check_pixels(name_, width, height, how.limits);
    if (!choose_channels(how.stored)) damaged_picture(name_, source_.message);
    StoredPicture stored;
    stored.orientation = orientation();
    stored.shape = {.height = static_cast<int>(height),
                    .width = static_cast<int>(width),
                    .channels = png_get_channels(png_, info_),
                    .bits = png_get_bit_depth(png_, info_)};
    if (!pixels) return stored;
    stored.image = Image(stored.shape);
    const std::size_t stride = png_get_rowbytes(png_, info_);
    LOCKSTEP_CHECK(stride * height == stored.shape.values() * (stored.shape.bits == 8 ? 1 : 2));
    auto* const first = stored.shape.bits == 8
                            ? stored.image.u8().data()
                            : reinterpret_cast<png_byte*>(stored.image.u16().data());
    for (std::uint64_t row = 0; row < height; ++row) rows_.push_back(first + row * stride);
    if (!read_rows()) damaged_picture(name_, source_.message);
    return stored;
  }

 private:
  bool read_header() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, &source_, take);
    // Texts and profiles are not used, but their memory must still be limited.
    constexpr png_alloc_size_t most_of_a_chunk = 8 << 20;
    png_set_chunk_malloc_max(png_, most_of_a_chunk);
    png_set_chunk_cache_max(png_, 64);
    png_set_user_limits(png_, std::numeric_limits<std::int32_t>::max(),
                        std::numeric_limits<std::int32_t>::max());
    png_read_info(png_, info_);
    return true;
  }

  bool choose_channels(bool stored) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    if (stored)
      png_set_packing(png_);  // one byte per value, not scaled
    else
      png_set_expand(png_);  // expands palettes, fewer than 8 bits, and a transparent colour
    if (swaps_16) png_set_swap(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  bool read_rows() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_image(png_, rows_.data());
    png_read_end(png_, info_);
    return true;
  }

  int orientation() const {
    png_bytep data = nullptr;
    png_uint_32 bytes = 0;
    if (png_get_eXIf_1(png_, info_, &bytes, &data) == 0 || data == nullptr) return 1;
    return exif_orientation({reinterpret_cast<const char*>(data), bytes});
  }

  Source source_;
  std::string name_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::vector<png_bytep> rows_;
};

struct Sink {
  std::string* bytes;
  char message[message_bytes] = "";
};

[[noreturn]] void leave_writing(png_structp png, png_const_charp message) {
  auto* sink = static_cast<Sink*>(png_get_error_ptr(png));
  std::strncpy(sink->message, message, message_bytes - 1);
  png_longjmp(png, 1);
}

void put(png_structp png, png_bytep from, std::size_t bytes) {
  static_cast<Sink*>(png_get_io_ptr(png))->bytes->append(reinterpret_cast<char*>(from), bytes);
}

class Writer {
 public:
  Writer() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &sink_, leave_writing, ignore_warning);
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) throw Error("the picture cannot be written as PNG: out of memory");
  }
  ~Writer() { png_destroy_write_struct(&png_, &info_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  std::string encode(const Image& image) {
    const auto* const first = image.bits() == 8
                                  ? image.u8().data()
                                  : reinterpret_cast<const png_byte*>(image.u16().data());
    if (!write(first, image.shape()))
      throw Error(cat("the picture cannot be written as PNG: ", sink_.message));
    return std::move(bytes_);
  }

 private:
  bool write(const png_byte* from, const ImageShape& shape) {
    constexpr int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                             PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_write_fn(png_, &sink_, put, nullptr);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(shape.width),
                 static_cast<png_uint_32>(shape.height), shape.bits, types[shape.channels - 1],
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    if (shape.bits == 16 && swaps_16) png_set_swap(png_);
    const std::size_t stride = png_get_rowbytes(png_, info_);
    for (int row = 0; row < shape.height; ++row)
      png_write_row(png_, from + static_cast<std::size_t>(row) * stride);
    png_write_end(png_, info_);
    return true;
  }

  std::string bytes_;
  Sink sink_{&bytes_};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1A\n"); }

StoredPicture decode_png(std::string_view bytes, const std::string& name, const ReadPicture& how,
                         bool pixels) {
  if (!chunks_fit(bytes)) damaged_picture(name, "it ends too early");
  return Reader(bytes, name).decode(how, pixels);
}

std::optional<StoredPicture> decode_png_header(std::string_view begin, const std::string& name,
                                               const ReadPicture& how) {
  if (!has_png_header(begin)) return std::nullopt;
  return Reader(begin, name).decode(how, /*pixels=*/false);
}

std::string encode_png(const Image& image) {
  if (image.empty()) throw Error("a picture without pixels cannot be written as PNG");
  return Writer().encode(image);
}

}  // namespace lockstep
