// Reads and writes whole files, durably.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>

#include "core/base/files/fd.h"

namespace lockstep {

class Beneath;

// The most bytes that are read from a file at once, by the kind of file. A larger file cannot be of
// that kind, and it would fill the memory. Logs are read line by line
// (runtime/run/events/json_lines.h).
inline constexpr std::uint64_t record_bytes = 16 << 20;  // records, states, configuration
// Lists that people or programs make: jobs, vocabularies, indices of weights, predictions.
inline constexpr std::uint64_t list_bytes = std::uint64_t{1} << 30;
// Data and models, which are legitimately large.
inline constexpr std::uint64_t data_bytes = std::uint64_t{16} << 30;

// Opens a file for reading, without ever waiting. Throws Error with path and reason if it is no
// regular file (a pipe, a device, a folder) or a Git LFS pointer. The functions below do so too.
UniqueFd open_regular_file(const std::filesystem::path& path);
// Reads a regular file. Throws Error, also if the file has more than `most_bytes`. In this case it
// has read little of the file.
std::string read_file(const std::filesystem::path& path, std::uint64_t most_bytes = record_bytes);
// Reads a path that the user typed, which may be a pipe: `--config <(…)`. Throws Error as above; an
// endless pipe is read up to the limit.
std::string read_input(const std::filesystem::path& path, std::uint64_t most_bytes = record_bytes);
// Reads a stream to its end. name: for messages. Throws Error as soon as the limit is passed.
std::string read_stream(std::istream& in, const std::string& name,
                        std::uint64_t most_bytes = record_bytes);
// Writes a temporary file beside `path`, syncs and renames it, then syncs the parent folder.
// Readers see the old or the new file, never a part of one. Throws Error.
void write_file_atomic(const std::filesystem::path& path, std::string_view text);
// The same in a folder that may belong to somebody else.
void write_file_atomic(const Beneath& folder, const std::filesystem::path& below,
                       std::string_view text);
// Also makes missing parent folders. All are synced to the disk. Throws Error.
void make_directories(const std::filesystem::path& path);
void sync_directory(const std::filesystem::path& path);  // throws Error

// A new empty folder under the system's temporary folder. The destructor removes it with its
// contents; after a kill, the next process that makes such a folder removes it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  UniqueFd held_;  // holds an flock, so that others see that it is in use
};

}  // namespace lockstep
