// Files read and written whole, and durably.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace lockstep {

class Beneath;

// The most that is read of a file at once, by what it is: a file of another size is not what it
// should be, and would fill the memory. Logs are read line by line (run/json_lines.h).
inline constexpr std::uint64_t record_bytes = 16 << 20;  // records, states, configuration
// Lists that people or programs make: jobs, vocabularies, indices of weights, predictions.
inline constexpr std::uint64_t list_bytes = std::uint64_t{1} << 30;
// Data and models, which are large by right.
inline constexpr std::uint64_t data_bytes = std::uint64_t{16} << 30;

// For reading, without ever waiting: what is no regular file (a pipe, a device, a folder) is an
// Error, which names path and reason; so is a pointer of Git LFS, here and below.
UniqueFd open_regular_file(const std::filesystem::path& path);
// Of a regular file. Throws Error, also where it has more than `most_bytes`; then little was read.
std::string read_file(const std::filesystem::path& path, std::uint64_t most_bytes = record_bytes);
// Of a path that the user typed, who may mean a pipe: `--config <(…)`. Throws Error, as above; a
// pipe without an end is read until it has given too much.
std::string read_input(const std::filesystem::path& path, std::uint64_t most_bytes = record_bytes);
// What a stream gives until it ends; name: for messages. Throws Error as soon as it is too much.
std::string read_stream(std::istream& in, const std::string& name,
                        std::uint64_t most_bytes = record_bytes);
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
