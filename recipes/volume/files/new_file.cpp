// Temporary name, fsync, rename, fsync of the folder.
#include "recipes/volume/files/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/write_all.h"

namespace lockstep::volume {
namespace {

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

NewFile::NewFile(std::filesystem::path path) : path_(std::move(path)) {
  static std::atomic<unsigned> serial{0};
  temporary_ = folder_of(path_) / cat(".", path_.filename().string(), ".", ::getpid(), ".",
                                      serial.fetch_add(1), ".tmp");
  fd_.reset(::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd_) fail(errno);
}

NewFile::~NewFile() {
  if (fd_) ::unlink(temporary_.c_str());
}

void NewFile::append(std::string_view bytes) {
  if (!write_all(fd_.get(), bytes)) fail(errno);
}

void NewFile::commit(bool durable) {
  if (durable && ::fsync(fd_.get()) != 0) fail(errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
  fd_.reset();
  if (durable) sync_directory(folder_of(path_));
}

void NewFile::fail(int error) const {
  throw Error(
      cat("cannot write ", path_.string(), ": ", errno_text(error)),
      error == ENOENT ? "make the folder first" : "see that the disk has room and may be written");
}

}  // namespace lockstep::volume
