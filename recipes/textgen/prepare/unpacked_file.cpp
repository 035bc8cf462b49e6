// Reads files that may be compressed with gzip or zstd.
#include "recipes/textgen/prepare/unpacked_file.h"

#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"

namespace lockstep::textgen {
namespace {

constexpr std::size_t input_bytes = 64 << 10;

bool is_gzip(std::string_view head) { return head.starts_with("\x1F\x8B\x08"); }

// Whether the file begins with a zstd frame, or with a skippable frame that some programs write
// first.
bool is_zstd(std::string_view head) {
  return head.starts_with("\x28\xB5\x2F\xFD") ||
         (head.size() > 4 && (head[0] & 0xF0) == 0x50 && head.substr(1, 3) == "\x2A\x4D\x18");
}

}  // namespace

class UnpackedFile::Unpacker {
 public:
  virtual ~Unpacker() = default;
  // Moves `in` and `out` past the bytes that were read and written. Returns whether a member or
  // frame ended.
  virtual bool unpack(std::string_view& in, std::span<char>& out) = 0;

  std::string fault;  // the error in the last input
};

class UnpackedFile::Gzip : public UnpackedFile::Unpacker {
 public:
  Gzip() { LOCKSTEP_CHECK(inflateInit2(&stream_, gzip_alone) == Z_OK); }
  ~Gzip() override { inflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  bool unpack(std::string_view& in, std::span<char>& out) override {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    const auto room = static_cast<uInt>(std::min<std::size_t>(out.size(), 1 << 30));
    stream_.avail_out = room;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    in.remove_prefix(in.size() - stream_.avail_in);
    out = out.subspan(room - stream_.avail_out);
    if (code == Z_STREAM_END) return inflateReset(&stream_) == Z_OK;
    if (code != Z_OK && code != Z_BUF_ERROR)
      fault = stream_.msg != nullptr ? stream_.msg : "its data are wrong";
    return false;
  }

 private:
  static constexpr int gzip_alone = 15 + 16;
  z_stream stream_{};
};

class UnpackedFile::Zstd : public UnpackedFile::Unpacker {
 public:
  bool unpack(std::string_view& in, std::span<char>& out) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t left = ZSTD_decompressStream(stream_.get(), &to, &from);
    if (ZSTD_isError(left)) fault = ZSTD_getErrorName(left);
    in.remove_prefix(from.pos);
    out = out.subspan(to.pos);
    return left == 0;
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream_{ZSTD_createDStream()};
};

UnpackedFile::UnpackedFile(const std::filesystem::path& path)
    : path_(path), fd_(open_regular_file(path)), buffer_(input_bytes) {
  fill();
  if (is_gzip(input_)) unpacker_ = std::make_unique<Gzip>();
  if (is_zstd(input_)) unpacker_ = std::make_unique<Zstd>();
}

UnpackedFile::~UnpackedFile() = default;

void UnpackedFile::fail(const std::string& why, const std::string& hint) const {
  throw Error(cat("cannot read ", path_.string(), ": ", why), hint);
}
void UnpackedFile::fail(const std::string& why) const {
  fail(why, "copy or download the file again; `gzip -t` and `zstd -t` test archives");
}

bool UnpackedFile::fill() {
  if (!input_.empty()) return true;
  ssize_t got = 0;
  do got = ::read(fd_.get(), buffer_.data(), buffer_.size());
  while (got < 0 && errno == EINTR);
  if (got < 0) fail(errno_text(errno), "check the disk that the file lies on");
  input_ = {buffer_.data(), static_cast<std::size_t>(got)};
  taken_ += static_cast<std::uint64_t>(got);
  return got > 0;
}

// Zeros may follow a member, because tapes are padded.
bool UnpackedFile::begins_member() {
  while (fill()) {
    input_.remove_prefix(std::min(input_.size(), input_.find_first_not_of('\0')));
    if (!input_.empty()) return true;
  }
  return false;
}

std::size_t UnpackedFile::read(std::span<char> out) {
  const std::size_t wanted = out.size();
  while (!out.empty()) {
    if (!unpacker_) {
      if (!fill()) break;
      const std::size_t count = input_.copy(out.data(), out.size());
      input_.remove_prefix(count);
      out = out.subspan(count);
      continue;
    }
    if (between_members_ && !begins_member()) break;
    const bool fed = fill();
    const std::size_t before = out.size();
    between_members_ = unpacker_->unpack(input_, out);
    if (!unpacker_->fault.empty()) fail(cat("the archive is damaged: ", unpacker_->fault));
    given_ += before - out.size();
    if (!between_members_ && !fed && out.size() == before) fail("the archive breaks off");
    if (given_ > least_bomb_bytes && given_ > most_unpacked_times * taken_)
      fail(cat("the archive unpacks to more than ", most_unpacked_times, " times its size"),
           "if that is meant, unpack it, and name the file that comes out");
  }
  return wanted - out.size();
}

void UnpackedFile::skip(std::int64_t bytes) {
  // Seeking is only needed for bytes beyond those that are already in the buffer.
  if (!unpacker_ && bytes > static_cast<std::int64_t>(input_.size())) {
    if (::lseek(fd_.get(), bytes - static_cast<std::int64_t>(input_.size()), SEEK_CUR) >= 0) {
      input_ = {};
      return;
    }
  }
  std::vector<char> skipped(static_cast<std::size_t>(
      std::min<std::int64_t>(bytes, static_cast<std::int64_t>(input_bytes))));
  while (bytes > 0) {
    const auto count = std::min<std::int64_t>(bytes, static_cast<std::int64_t>(skipped.size()));
    if (read({skipped.data(), static_cast<std::size_t>(count)}) == 0) return;
    bytes -= count;
  }
}

}  // namespace lockstep::textgen
