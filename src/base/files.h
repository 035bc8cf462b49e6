// Files read and written whole, and durably.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace lockstep {

class Beneath;

// For reading, without ever waiting: what is no regular file (a pipe, a device, a folder) is an
// Error, which names path and reason.
UniqueFd open_regular_file(const std::filesystem::path& path);
std::string read_file(const std::filesystem::path& path);  // a regular file; throws Error
// Of a path that the user typed, who may mean a pipe: `--config <(…)`. Throws Error.
std::string read_input(const std::filesystem::path& path);
// Temporary name beside it, fsync, rename, fsync of the parent: old or new, never half. Throws
// Error.
void write_file_atomic(const std::filesystem::path& path, std::string_view text);
// The same in a folder that may be somebody else's.
void write_file_atomic(const Beneath& folder, const std::filesystem::path& below,
                       std::string_view text);
// With those above it; durable. Throws Error.
void make_directories(const std::filesystem::path& path);
void sync_directory(const std::filesystem::path& path);  // throws Error

// A new empty folder under the system's temporary folder, removed with all in it by the destructor;
// after a kill, by the next process that makes one.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  UniqueFd held_;  // with an flock, so that others see that it is in use
};

}  // namespace lockstep
