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

// Limits on the size of a file that is read as a whole, by the kind of file. A larger file is not a
// valid file of that kind, and would fill the memory. Logs are read line by line instead
// (runtime/run/events/json_lines.h).
inline constexpr std::uint64_t record_bytes = 16 << 20;  // records, states, configuration
// Lists that people or programs make: jobs, vocabularies, shard indexes of weights, predictions.
inline constexpr std::uint64_t list_bytes = std::uint64_t{1} << 30;
// Data and models, which may be large.
inline constexpr std::uint64_t data_bytes = std::uint64_t{16} << 30;

// Opens a file for reading, without ever blocking. Throws Error with path and reason if it cannot
// be opened, or if it is not a regular file (a pipe, a device, a folder). Also throws Error if the
// file is a Git LFS pointer (lfs_pointer.h). read_file uses this function.
UniqueFd open_regular_file(const std::filesystem::path& path);
// Reads a regular file. Throws Error if the file cannot be read or has more than `most_bytes`. If
// the size of the file shows that it is too large, nothing is read.
std::string read_file(const std::filesystem::path& path, std::uint64_t most_bytes = record_bytes);
// Reads a path that the user typed, which may be a pipe, as in `--config <(…)`. Throws Error if it
// cannot be read, or if it has more than `most_bytes`. So an endless pipe is read only up to the
// limit.
std::string read_input(const std::filesystem::path& path, std::uint64_t most_bytes = record_bytes);
// Reads a stream to its end. name: the stream's name in messages. Throws Error as soon as it has
// read more than `most_bytes`.
std::string read_stream(std::istream& in, const std::string& name,
                        std::uint64_t most_bytes = record_bytes);
// Writes a temporary file in the same folder, syncs it, renames it to `path`, and syncs the folder.
// Readers see the old file or the new one, but never an incomplete one. Throws Error if writing
// fails.
void write_file_atomic(const std::filesystem::path& path, std::string_view text);
// The same, in a folder that another user may control (beneath.h).
void write_file_atomic(const Beneath& folder, const std::filesystem::path& below,
                       std::string_view text);
// Makes a folder and its missing parent folders, and makes them durable. Throws Error if that
// fails.
void make_directories(const std::filesystem::path& path);
// Makes the names in a folder durable. Throws Error if that fails.
void sync_directory(const std::filesystem::path& path);

// A new, empty folder in the system's folder for temporary files. The destructor removes it with
// its contents. If the process is killed, the next process that makes a TemporaryDirectory removes
// it.
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
