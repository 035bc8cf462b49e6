// Decompresses a ByteSource with zlib. Several members form one stream, as in gzip.
#include "recipes/volume/files/nifti/gzip_reader.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

constexpr std::size_t piece_bytes = 64 << 10;
constexpr int gzip_alone = 15 + 16;

}  // namespace

GzipReader::GzipReader(const ByteSource& source)
    : source_(source),
      input_(static_cast<std::size_t>(std::clamp<std::uint64_t>(source.size(), 1, piece_bytes))) {
  LOCKSTEP_CHECK(inflateInit2(&stream_, gzip_alone) == Z_OK);
}

GzipReader::~GzipReader() { inflateEnd(&stream_); }

void GzipReader::fail(const char* why) const {
  throw Error(cat("cannot read ", source_.name(), ": ", why));
}

void GzipReader::restart() {
  LOCKSTEP_CHECK(inflateReset(&stream_) == Z_OK);
  stream_.avail_in = 0;
  next_ = position_ = 0;
  ended_ = false;
}

bool GzipReader::fill() {
  if (stream_.avail_in > 0) return true;
  const std::size_t count = source_.read(next_, input_);
  next_ += count;
  stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
  stream_.avail_in = static_cast<uInt>(count);
  return count > 0;
}

void GzipReader::seek(std::uint64_t position) {
  if (position < position_) restart();
  if (position == position_) return;
  skipped_.resize(piece_bytes);
  while (position_ < position) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes, position - position_));
    if (read({skipped_.data(), count}) < count) fail("it is truncated");
  }
}

std::size_t GzipReader::read(std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size() && !ended_) {
    if (!fill()) fail("it is truncated: its gzip data breaks off");
    const auto room =
        static_cast<uInt>(std::min<std::size_t>(out.size() - done, std::size_t{1} << 30));
    stream_.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    stream_.avail_out = room;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    const std::size_t count = room - stream_.avail_out;
    done += count;
    position_ += count;
    if (code == Z_STREAM_END) {
      ended_ = !fill() || *stream_.next_in != 0x1f;  // padding may follow
      if (!ended_) LOCKSTEP_CHECK(inflateReset(&stream_) == Z_OK);
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      fail("it is damaged: its gzip data or their checksum are wrong");
    }
  }
  return done;
}

}  // namespace lockstep::volume
