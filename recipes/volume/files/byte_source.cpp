// Sources of bytes: files, read by pread so that they need no position, and memory.
#include "recipes/volume/files/byte_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

class FileSource : public ByteSource {
 public:
  FileSource(UniqueFd fd, std::string name, std::uint64_t size)
      : ByteSource(std::move(name), size), fd_(std::move(fd)) {}
  std::size_t read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset >= size()) return 0;
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t count = ::pread(fd_.get(), out.data() + done, out.size() - done,
                                    static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw Error(cat("cannot read ", name(), ": ", errno_text(errno)));
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

 private:
  UniqueFd fd_;
};

class MemorySource : public ByteSource {
 public:
  MemorySource(std::string_view bytes, std::string name)
      : ByteSource(std::move(name), bytes.size()), bytes_(bytes) {}
  std::size_t read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset >= bytes_.size()) return 0;
    const std::size_t count =
        std::min(out.size(), bytes_.size() - static_cast<std::size_t>(offset));
    std::memcpy(out.data(), bytes_.data() + offset, count);
    return count;
  }

 private:
  std::string_view bytes_;
};

}  // namespace

void ByteSource::read_all(std::uint64_t offset, std::span<std::byte> out) const {
  if (read(offset, out) != out.size())
    throw Error(cat("cannot read ", name(), ": it is truncated, it ends after ", size(), " bytes"));
}

std::unique_ptr<ByteSource> file_source(const std::filesystem::path& path) {
  UniqueFd fd = open_regular_file(path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0)
    throw Error(cat("cannot read ", path.string(), ": ", errno_text(errno)));
  return std::make_unique<FileSource>(std::move(fd), path.string(),
                                      static_cast<std::uint64_t>(info.st_size));
}

std::unique_ptr<ByteSource> memory_source(std::string_view bytes, std::string name) {
  return std::make_unique<MemorySource>(bytes, std::move(name));
}

}  // namespace lockstep::volume
