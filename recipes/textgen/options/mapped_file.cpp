// Maps a file into memory for reading.
#include "recipes/textgen/options/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/text/text.h"

namespace lockstep::textgen {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const auto fail = [&] {
    throw Error(cat("cannot read ", path.string(), ": ", errno_text(errno)),
                "prepared data is missing; start the run again, which prepares it anew");
  };
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) fail();
  size_ = static_cast<std::size_t>(info.st_size);
  if (size_ == 0) return;
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) fail();
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

}  // namespace lockstep::textgen
