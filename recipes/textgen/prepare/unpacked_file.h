// Reads files from start to end, and decompresses files that are compressed with gzip or zstd.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep::textgen {

// Limits against decompression bombs. A compressed file is refused if its contents exceed both
// limits: most_unpacked_times the size of the file, and least_bomb_bytes. The compressed size of
// text is usually between a third and a tenth of its size.
inline constexpr std::uint64_t most_unpacked_times = 200, least_bomb_bytes = 64 << 20;

// Compressed files are recognised by their first bytes, not by their names. Other files are read as
// they are. Consecutive gzip members or zstd frames are joined into one text. Memory holds only a
// part of the file. For zstd, it also holds the window of the decoder, which is at most 128 MiB.
// This class is not thread-safe.
class UnpackedFile {
 public:
  explicit UnpackedFile(const std::filesystem::path& path);  // throws Error if it cannot be read
  ~UnpackedFile();
  UnpackedFile(const UnpackedFile&) = delete;
  UnpackedFile& operator=(const UnpackedFile&) = delete;

  // Fills `out`, or a part of it at the end of the contents. Returns the number of bytes. Throws
  // Error, which names the file, if the file cannot be read, is damaged or truncated, or exceeds
  // the limits above.
  std::size_t read(std::span<char> out);
  // Skips the next `bytes` bytes of the contents. Throws Error as read() does.
  void skip(std::int64_t bytes);

 private:
  class Unpacker;
  class Gzip;
  class Zstd;

  bool fill();  // reads more input; returns false at the end of the file
  bool begins_member();
  [[noreturn]] void fail(const std::string& why, const std::string& hint) const;
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path path_;
  UniqueFd fd_;
  std::vector<char> buffer_;
  std::string_view input_;  // the part of the buffer that is not yet decompressed
  std::unique_ptr<Unpacker> unpacker_;
  bool between_members_ = true;
  // taken_: bytes read from the file. given_: bytes returned by read().
  std::uint64_t taken_ = 0, given_ = 0;
};

}  // namespace lockstep::textgen
