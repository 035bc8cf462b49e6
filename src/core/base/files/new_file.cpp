#include "core/base/files/new_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/base/errno_hint.h"
#include "core/base/error.h"
#include "core/base/files/unfinished.h"
#include "core/base/files/write_all.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
  throw Error(cat("cannot write ", path.string(), ": ", errno_text(error)), errno_hint(error));
}

Beneath folder_around(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  if (!fs::is_directory(folder, error))
    fail_to_write(path, error ? error.value() : fs::exists(folder) ? ENOTDIR : ENOENT);
  return Beneath(folder);
}

}  // namespace

NewFile::NewFile(const fs::path& path) : NewFile(folder_around(path), path.filename()) {}

NewFile::NewFile(Beneath folder, fs::path below)
    : folder_(std::move(folder)), path_(std::move(below)) {
  const fs::path parent = path_.parent_path();
  remove_abandoned(folder_, parent.empty() ? "." : parent);
  temporary_ = parent / unfinished_name(path_.filename().string());
  fd_ = folder_.open(temporary_, O_RDWR | O_CREAT | O_EXCL);
  if (!fd_) fail(errno);
  ::flock(fd_.get(), LOCK_EX | LOCK_NB);  // has no effect if the file system lacks locks
}

NewFile::~NewFile() {
  if (fd_) folder_.remove(temporary_);
}

fs::path NewFile::path() const {
  // The path in the form in which it was given.
  return folder_.path() == "." ? path_ : folder_.path() / path_;
}
fs::path NewFile::temporary_path() const { return folder_.path() / temporary_; }

void NewFile::append(std::string_view bytes) {
  if (!write_all(fd_.get(), bytes)) fail(errno);
}

void NewFile::commit(bool durable) {
  if (durable && ::fsync(fd_.get()) != 0) fail(errno);
  if (::close(fd_.release()) != 0 || !folder_.rename(temporary_, path_)) {
    const int error = errno;
    folder_.remove(temporary_);
    fail(error);
  }
  const fs::path parent = path_.parent_path();
  if (durable && !folder_.sync(parent.empty() ? "." : parent)) fail(errno);
}

void NewFile::fail(int error) const {
  if (folder_.link_to(path_.parent_path())) folder_.fail("write", path_, error);
  fail_to_write(path(), error);
}

}  // namespace lockstep
