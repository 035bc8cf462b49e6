// Reads and writes whole files. Writes are durable.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>

#include "core/base/files/fd.h"

namespace lockstep {

class Beneath;

// Limits on the bytes that are read from a file at once, by the kind of file. A larger file cannot
// be of that kind, and would fill the memory. Logs are read line by line instead
// (runtime/run/events/json_lines.h).
inline constexpr std::uint64_t record_bytes = 16 << 20;  // records, states, configuration
// Lists that people or programs make: jobs, vocabularies, shard indexes of weights, predictions.
inline constexpr std::uint64_t list_bytes = std::uint64_t{1} << 30;
// Data and models, which may be large.
inline constexpr std::uint64_t data_bytes = std::uint64_t{16} << 30;

// Opens a file for reading, without ever blocking. Throws Error with path and reason if it is not a
// regular file (a pipe, a device, a folder). Also throws it for a Git LFS pointer. read_file uses
// this function.
UniqueFd open_regular_file(const std::filesystem::path& path);
// Reads a regular file. Throws Error, also if the file has more than `most_bytes`. A file whose
// size is known to be too large is not read.
std::string read_file(const std::filesystem::path& path, std::uint64_t most_bytes = record_bytes);
// Reads a path that the user typed. It may be a pipe, as in `--config <(…)`. Throws Error. An
// endless pipe is read up to the limit.
std::string read_input(const std::filesystem::path& path, std::uint64_t most_bytes = record_bytes);
// Reads a stream to its end. name: for messages. Throws Error as soon as the limit is exceeded.
std::string read_stream(std::istream& in, const std::string& name,
                        std::uint64_t most_bytes = record_bytes);
// Writes a temporary file in the same folder, syncs it, renames it to `path`, and syncs the folder.
// Readers see the old file or the new one, never a part of it. Throws Error.
void write_file_atomic(const std::filesystem::path& path, std::string_view text);
// The same in a folder that another user may control.
void write_file_atomic(const Beneath& folder, const std::filesystem::path& below,
                       std::string_view text);
// Also makes missing parent folders. All are durable when this returns. Throws Error.
void make_directories(const std::filesystem::path& path);
void sync_directory(const std::filesystem::path& path);  // throws Error

// A new empty folder in the system's folder for temporary files. The destructor removes it with its
// contents. After a kill, the next process that makes such a folder removes it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  UniqueFd held_;  // holds an flock, which shows other processes that the folder is in use
};

}  // namespace lockstep
