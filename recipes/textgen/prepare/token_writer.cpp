// Writes a token file as a stream.
#include "recipes/textgen/prepare/token_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/textgen/options/token_file.h"

namespace lockstep::textgen {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

[[noreturn]] void fail(const std::filesystem::path& path) {
  const int error = errno;
  throw Error(cat("cannot write ", path.string(), ": ", errno_text(error)),
              error == ENOSPC || error == EDQUOT ? "free some space, or choose another cache folder"
                                                 : "check the permissions of the cache folder");
}

}  // namespace

TokenWriter::TokenWriter(std::filesystem::path path, std::int64_t vocabulary)
    : path_(std::move(path)),
      fd_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)),
      width_(vocabulary <= 65536 ? 2 : 4) {
  if (!fd_) fail(path_);
  buffer_.reserve(buffer_bytes + sizeof(std::uint32_t));
}

void TokenWriter::write(std::uint32_t token) {
  LOCKSTEP_CHECK(width_ == 4 || token < 65536);
  buffer_.append(reinterpret_cast<const char*>(&token), width_);  // little-endian
  ++count_;
  if (buffer_.size() >= buffer_bytes) flush();
}

void TokenWriter::write(std::span<const std::uint32_t> tokens) {
  for (const std::uint32_t token : tokens) write(token);
}

void TokenWriter::write_at(const void* data, std::size_t bytes, std::int64_t offset) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::pwrite(fd_.get(), from, bytes, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(path_);
    from += done;
    offset += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

void TokenWriter::flush() {
  hash_.update(buffer_);
  write_at(buffer_.data(), buffer_.size(),
           static_cast<std::int64_t>(sizeof(TokenHeader)) + written_bytes_);
  written_bytes_ += static_cast<std::int64_t>(buffer_.size());
  buffer_.clear();
}

std::string TokenWriter::finish() {
  flush();
  TokenHeader header{.magic = {}, .version = token_version, .width = width_, .count = count_};
  std::memcpy(header.magic, token_magic, sizeof token_magic);
  write_at(&header, sizeof header, 0);
  if (::fsync(fd_.get()) != 0) fail(path_);
  fd_.reset();
  return hash_.hex();
}

}  // namespace lockstep::textgen
