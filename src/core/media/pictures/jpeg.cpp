// Reads and writes JPEG with libjpeg. Its errors use longjmp, so no variable with a destructor may
// live between setjmp and a call of the library.
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include <jerror.h>

#include <csetjmp>
#include <cstring>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/media/pictures/picture_codecs.h"

namespace lockstep {
namespace {

// The library has pointers to the base, so the base comes first.
struct Faults {
  jpeg_error_mgr base;
  std::jmp_buf leave;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void leave(j_common_ptr info) {
  auto* faults = reinterpret_cast<Faults*>(info->err);
  faults->base.format_message(info, faults->message);
  std::longjmp(faults->leave, 1);
}

// A warning after which pixels are missing or invented is an error. Other warnings are ignored.
void judge_warning(j_common_ptr info, int level) {
  if (level >= 0) return;
  switch (info->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
      leave(info);
    default:
      return;
  }
}

void set_faults(Faults& faults) {
  jpeg_std_error(&faults.base);
  faults.base.error_exit = leave;
  faults.base.emit_message = judge_warning;
  faults.message[0] = '\0';
}

// A progressive file may contain any number of passes over the whole picture.
void limit_scans(j_common_ptr info) {
  constexpr int most_scans = 200;
  if (!info->is_decompressor) return;
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= most_scans) return;
  auto* faults = reinterpret_cast<Faults*>(info->err);
  std::snprintf(faults->message, sizeof faults->message, "more than %d scans", most_scans);
  std::longjmp(faults->leave, 1);
}

class Decoder {
 public:
  Decoder(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {
    set_faults(faults_);
    info_.err = &faults_.base;
    jpeg_create_decompress(&info_);
    progress_.progress_monitor = limit_scans;
    info_.progress = &progress_;
  }
  ~Decoder() { jpeg_destroy_decompress(&info_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  StoredPicture decode(const PictureLimits& limits, bool pixels) {
    if (!read_header()) damaged_picture(name_, faults_.message);
    check_pixels(name_, info_.image_width, info_.image_height, limits);
    StoredPicture stored;
    stored.orientation = orientation();
    stored.shape = {.height = static_cast<int>(info_.image_height),
                    .width = static_cast<int>(info_.image_width),
                    .channels = info_.num_components == 1 ? 1 : 3};
    if (!pixels) return stored;
    cmyk_ = info_.num_components == 4;
    stored.image = Image(stored.shape);
    line_.resize(static_cast<std::size_t>(info_.image_width) * (cmyk_ ? 4 : 3));
    if (!read_pixels(stored.image.u8().data(), stored.image.channels()))
      damaged_picture(name_, faults_.message);
    return stored;
  }

 private:
  bool read_header() {
    if (setjmp(faults_.leave) != 0) return false;
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
    jpeg_save_markers(&info_, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(&info_, TRUE);
    return true;
  }

  // Writes pixels to `to` as height x width x channels.
  bool read_pixels(std::uint8_t* to, int channels) {
    if (setjmp(faults_.leave) != 0) return false;
    info_.out_color_space = channels == 1 ? JCS_GRAYSCALE : cmyk_ ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&info_);
    const std::size_t stride =
        static_cast<std::size_t>(info_.image_width) * static_cast<std::size_t>(channels);
    while (info_.output_scanline < info_.output_height) {
      std::uint8_t* const row = to + info_.output_scanline * stride;
      JSAMPROW line = cmyk_ ? line_.data() : row;
      if (jpeg_read_scanlines(&info_, &line, 1) == 1 && cmyk_) rgb_of_cmyk(row);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  // Nearly all CMYK files come from Adobe's programs. These store inverted values, and mark the
  // file.
  void rgb_of_cmyk(std::uint8_t* row) const {
    const unsigned flip = info_.saw_Adobe_marker ? 0U : 255U;
    for (std::size_t x = 0; x < info_.image_width; ++x) {
      const JSAMPLE* const ink = line_.data() + 4 * x;
      for (std::size_t c = 0; c < 3; ++c)
        row[3 * x + c] = static_cast<std::uint8_t>(((ink[c] ^ flip) * (ink[3] ^ flip) + 127) / 255);
    }
  }

  int orientation() const {
    constexpr std::string_view head("Exif\0\0", 6);
    for (const jpeg_marker_struct* marker = info_.marker_list; marker; marker = marker->next) {
      const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
      if (marker->marker == JPEG_APP0 + 1 && data.starts_with(head))
        return exif_orientation(data.substr(head.size()));
    }
    return 1;
  }

  std::string_view bytes_;
  std::string name_;
  Faults faults_{};
  jpeg_decompress_struct info_{};
  jpeg_progress_mgr progress_{};
  std::vector<std::uint8_t> line_;
  bool cmyk_ = false;
};

class Encoder {
 public:
  Encoder() {
    set_faults(faults_);
    info_.err = &faults_.base;
    jpeg_create_compress(&info_);
  }
  ~Encoder() {
    jpeg_destroy_compress(&info_);
    std::free(buffer_);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  std::string encode(const Image& image, int quality) {
    if (!write(image.u8().data(), image.shape(), quality))
      throw Error(cat("the picture cannot be written as JPEG: ", faults_.message), "write a PNG");
    return {reinterpret_cast<const char*>(buffer_), length_};
  }

 private:
  bool write(const std::uint8_t* from, const ImageShape& shape, int quality) {
    if (setjmp(faults_.leave) != 0) return false;
    jpeg_mem_dest(&info_, &buffer_, &length_);
    info_.image_width = static_cast<JDIMENSION>(shape.width);
    info_.image_height = static_cast<JDIMENSION>(shape.height);
    info_.input_components = shape.channels;
    info_.in_color_space = shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, quality, TRUE);
    jpeg_start_compress(&info_, TRUE);
    const std::size_t stride =
        static_cast<std::size_t>(shape.width) * static_cast<std::size_t>(shape.channels);
    while (info_.next_scanline < info_.image_height) {
      JSAMPROW line = const_cast<JSAMPROW>(from + info_.next_scanline * stride);
      jpeg_write_scanlines(&info_, &line, 1);
    }
    jpeg_finish_compress(&info_);
    return true;
  }

  Faults faults_{};
  jpeg_compress_struct info_{};
  unsigned char* buffer_ = nullptr;  // allocated by the library with malloc
  unsigned long length_ = 0;
};

}  // namespace

bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xFF\xD8\xFF"); }

StoredPicture decode_jpeg(std::string_view bytes, const std::string& name,
                          const PictureLimits& limits, bool pixels) {
  return Decoder(bytes, name).decode(limits, pixels);
}

std::string encode_jpeg(const Image& image, int quality) {
  if (image.empty() || image.bits() != 8 || (image.channels() != 1 && image.channels() != 3))
    throw Error(
        cat("a JPEG holds grey or RGB of 8 bits, but the picture is ", describe(image.shape())),
        "convert it first, or write a PNG");
  if (quality < 1 || quality > 100)
    throw Error(cat("the quality of a JPEG must be 1 to 100, but is ", quality),
                "90 is hardly seen to differ");
  return Encoder().encode(image, quality);
}

}  // namespace lockstep
