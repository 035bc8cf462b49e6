// Reads the headers of pictures without reading whole files.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "core/media/pictures/picture_codecs.h"

namespace lockstep {
namespace {

constexpr std::uint64_t begin_bytes = 16 << 10, most_of_header = 64 << 20, end_bytes = 64 << 10;

// An open picture file from which ranges are read.
class PictureBytes {
 public:
  PictureBytes(const std::filesystem::path& path, const PictureLimits& limits)
      : name_(path.string()), fd_(open_regular_file(path)) {
    struct stat info {};
    if (::fstat(fd_.get(), &info) != 0) fail();
    size_ = static_cast<std::uint64_t>(info.st_size);
    check_file_size(name_, size_, limits);
  }
  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }

  // Reads these bytes, or fewer if the file ends before.
  std::string read(std::uint64_t begin, std::uint64_t count) const {
    std::string bytes(std::min(count, size_ - std::min(begin, size_)), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got = ::pread(fd_.get(), bytes.data() + done, bytes.size() - done,
                                  static_cast<off_t>(begin + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail();
      if (got == 0) break;  // the file became shorter
      done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return bytes;
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(cat("cannot read ", name_, ": ", errno_text(errno)),
                "check that you may read the file");
  }
  std::string name_;
  UniqueFd fd_;
  std::uint64_t size_ = 0;
};

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

// The offset of a JPEG's pixels. 0 if the segments before them do not lie within `begin`.
std::size_t jpeg_pixels(std::string_view begin) {
  std::size_t at = 2;
  while (at + 4 <= begin.size() && begin[at] == '\xFF') {
    const char marker = begin[at + 1];
    if (marker == '\xDA') return at;
    if (marker == '\xFF') {
      ++at;  // fill bytes
      continue;
    }
    at += 2 + static_cast<std::size_t>(big_endian(begin.substr(at + 2, 2)));
  }
  return 0;
}

// Whether a JPEG has no end of image behind its first pixels, so that decoding must fail. The mark
// is searched in the whole file, because programs append other data to pictures.
bool jpeg_is_cut_off(const PictureBytes& file, std::string_view begin) {
  constexpr std::string_view end_of_image("\xFF\xD9", 2);
  const std::size_t pixels = jpeg_pixels(begin);
  if (pixels == 0) return false;  // this cannot be known
  const auto ends_within = [&](std::uint64_t from) {
    return file.read(from, file.size() - from).find(end_of_image) != std::string::npos;
  };
  if (file.read(file.size() - 2, 2) == end_of_image && file.size() >= pixels + 4) return false;
  const std::uint64_t tail = file.size() > end_bytes ? file.size() - end_bytes : 0;
  if (ends_within(std::max<std::uint64_t>(tail, pixels))) return false;
  return !ends_within(pixels);
}

// Whether a PNG's chunk reaches beyond the file, or no end chunk exists.
bool png_is_cut_off(const PictureBytes& file) {
  constexpr std::uint64_t signature = 8, around = 12;  // length, name and checksum of a chunk
  constexpr std::string_view last("\0\0\0\0IEND\xAE\x42\x60\x82", 12);
  if (file.size() < signature + around) return true;
  if (file.read(file.size() - around, around) == last) return false;
  for (std::uint64_t at = signature; at + around <= file.size();) {
    const std::string head = file.read(at, 8);
    if (head.substr(4) == "IEND") return false;
    at += around + big_endian(std::string_view(head).substr(0, 4));
  }
  return true;
}

// The bytes read grow until the header is complete, because previews and profiles can make it long.
StoredPicture decode_header(const PictureBytes& file, std::string& begin, const ReadPicture& how) {
  while (true) {
    const bool is_all = begin.size() >= file.size() || begin.size() >= most_of_header;
    if (is_png(begin)) {
      if (auto stored = decode_png_header(begin, file.name(), how)) return *std::move(stored);
      if (is_all) damaged_picture(file.name(), "it ends too early");
    } else if (is_jpeg(begin)) {
      if (how.stored) refuse_stored_jpeg(file.name());
      try {
        return decode_jpeg(begin, file.name(), how.limits, /*pixels=*/false);
      } catch (const Error&) {
        if (is_all) throw;
      }
    } else {
      refuse_format(file.name(), begin);
    }
    std::string more = file.read(0, begin.size() * 16);
    if (more.size() <= begin.size()) damaged_picture(file.name(), "it became shorter");
    begin = std::move(more);
  }
}

struct Format {
  std::size_t at;
  std::string_view bytes;
  const char* name;
};
constexpr Format other_formats[] = {{8, "WEBP", "a WebP"},
                                    {0, "GIF8", "a GIF"},
                                    {0, "BM", "a BMP"},
                                    {0, std::string_view("II*\0", 4), "a TIFF"},
                                    {0, std::string_view("MM\0*", 4), "a TIFF"},
                                    {4, "ftypavif", "an AVIF"},
                                    {4, "ftyphei", "a HEIC"},
                                    {4, "ftypmif1", "a HEIC"},
                                    {0, std::string_view("\0\0\0\x0CJXL ", 8), "a JPEG XL"},
                                    {0, "\xFF\x0A", "a JPEG XL"},
                                    {0, "<", "a page of the web or an SVG"}};

}  // namespace

void refuse_format(const std::string& name, std::string_view bytes) {
  std::string what = bytes.empty() ? " is empty" : " is neither a JPEG nor a PNG file";
  for (const Format& format : other_formats)
    if (bytes.size() >= format.at + format.bytes.size() &&
        bytes.substr(format.at, format.bytes.size()) == format.bytes) {
      what += cat(", but ", format.name);
      break;
    }
  throw Error(name + what, "convert it to one of these, or take it out");
}

ImageShape PictureHeader::turned() const { return lockstep::turned(stored, orientation); }

PictureHeader read_picture_header(const std::filesystem::path& path, const ReadPicture& how) {
  const PictureBytes file(path, how.limits);
  std::string begin = file.read(0, begin_bytes);
  const std::uint64_t content_hash = hash64(cat(file.size(), " ", begin));
  const StoredPicture stored = decode_header(file, begin, how);
  if (is_png(begin) ? png_is_cut_off(file) : jpeg_is_cut_off(file, begin))
    damaged_picture(file.name(), "it ends too early");
  return {.stored = stored.shape, .orientation = stored.orientation, .content_hash = content_hash};
}

}  // namespace lockstep
