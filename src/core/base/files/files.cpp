// Reads and writes whole files, durably if asked.
#include "core/base/files/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <istream>
#include <system_error>
#include <vector>

#include "core/base/errno_hint.h"
#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/files/lfs_pointer.h"
#include "core/base/files/new_file.h"
#include "core/base/files/unfinished.h"
#include "core/base/process/memory.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

[[noreturn]] void fail(std::string_view action, const std::filesystem::path& path, int error) {
  throw Error(cat("cannot ", action, " ", path.string(), ": ", errno_text(error)),
              errno_hint(error));
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

// size: empty if unknown.
[[noreturn]] void refuse_size(const std::filesystem::path& path, const std::string& size,
                              std::uint64_t most_bytes) {
  throw Error(cat("cannot read ", path.string(), ": it has ", size.empty() ? "" : size + ", ",
                  "more than the limit of ", format_bytes(static_cast<double>(most_bytes))),
              "look what it is: another file may lie in its place");
}

std::string read_all(const UniqueFd& fd, const std::filesystem::path& path,
                     std::uint64_t most_bytes) {
  std::string text;
  struct stat info {};
  if (::fstat(fd.get(), &info) == 0 && info.st_size > 0) {
    const auto bytes = static_cast<std::uint64_t>(info.st_size);
    if (bytes > most_bytes) refuse_size(path, format_bytes(static_cast<double>(bytes)), most_bytes);
    reserve_in_large_pages(text, bytes);
  }
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("read", path, errno);
    if (count == 0) return text;
    // Pipes and files in /proc do not report their length, and a file may grow.
    if (text.size() + static_cast<std::size_t>(count) > most_bytes)
      refuse_size(path, "", most_bytes);
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

}  // namespace

UniqueFd open_regular_file(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer. Regular files ignore the flag.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) fail("read", path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) fail("read", path, errno);
  if (S_ISDIR(info.st_mode)) fail("read", path, EISDIR);
  if (!S_ISREG(info.st_mode))
    throw Error(cat("cannot read ", path.string(), ": it must be a regular file, but is ",
                    S_ISFIFO(info.st_mode) ? "a pipe" : "a device"),
                "put the file itself in its place");
  refuse_lfs_pointer(fd.get(), path);
  return fd;
}

std::string read_file(const std::filesystem::path& path, std::uint64_t most_bytes) {
  return read_all(open_regular_file(path), path, most_bytes);
}

std::string read_input(const std::filesystem::path& path, std::uint64_t most_bytes) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) fail("read", path, errno);
  refuse_lfs_pointer(fd.get(), path);
  return read_all(fd, path, most_bytes);
}

std::string read_stream(std::istream& in, const std::string& name, std::uint64_t most_bytes) {
  std::string text;
  char buffer[1 << 16];
  while (in.read(buffer, sizeof buffer) || in.gcount() > 0) {
    if (text.size() + static_cast<std::size_t>(in.gcount()) > most_bytes)
      refuse_size(name, "", most_bytes);
    text.append(buffer, static_cast<std::size_t>(in.gcount()));
  }
  return text;
}

void write_file_atomic(const std::filesystem::path& path, std::string_view text) {
  NewFile file(path);
  file.append(text);
  file.commit();
}

void write_file_atomic(const Beneath& folder, const std::filesystem::path& below,
                       std::string_view text) {
  NewFile file(folder, below);
  file.append(text);
  file.commit();
}

void make_directories(const std::filesystem::path& path) {
  std::error_code error;
  std::vector<std::filesystem::path> changed;  // folders in which a new folder is created
  for (std::filesystem::path part = path; !part.empty() && !std::filesystem::exists(part, error);
       part = part.parent_path())
    changed.push_back(folder_of(part));
  std::filesystem::create_directories(path, error);
  if (error) fail("create folder", path, error.value());
  for (const std::filesystem::path& folder : changed) sync_directory(folder);
}

void sync_directory(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) fail("open folder", path, errno);
  // Some network file systems cannot sync a folder and return EINVAL. Nothing more can be done
  // then.
  if (::fsync(fd.get()) != 0 && errno != EINVAL) fail("sync folder", path, errno);
}

TemporaryDirectory::TemporaryDirectory() {
  std::error_code error;
  const std::filesystem::path root = std::filesystem::temp_directory_path(error);
  if (error) fail("find the temporary folder", root, error.value());
  path_ = make_temporary_folder(root);
  if (path_.empty()) fail("create a folder in", root, errno);
  held_.reset(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (held_) ::flock(held_.get(), LOCK_EX | LOCK_NB);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace lockstep
