// Reads files that may be packed with gzip or zstd: their unpacked contents, forwards.
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

// An archive is refused if it unpacks to more than this many times its size and also to more than
// this many bytes. Packed text usually has a third to a tenth of its size.
inline constexpr std::uint64_t most_unpacked_times = 200, least_bomb_bytes = 64 << 20;

// Archives are recognised by their first bytes, whatever their names are. Other files are read as
// they are. Several consecutive members or frames are one text. Memory holds only a part of the
// file (for zstd also its window, at most 128 MiB). Not thread-safe.
class UnpackedFile {
 public:
  explicit UnpackedFile(const std::filesystem::path& path);  // throws Error
  ~UnpackedFile();
  UnpackedFile(const UnpackedFile&) = delete;
  UnpackedFile& operator=(const UnpackedFile&) = delete;

  // Reads as many bytes as exist; fewer than requested only at the end. Throws Error, which names
  // the file, if the file cannot be read, is damaged or truncated, or unpacks to too much.
  std::size_t read(std::span<char> out);
  // Has the same effect as reading that many bytes.
  void skip(std::int64_t bytes);

 private:
  class Unpacker;
  class Gzip;
  class Zstd;

  bool fill();  // returns whether there is more input
  bool begins_member();
  [[noreturn]] void fail(const std::string& why, const std::string& hint) const;
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path path_;
  UniqueFd fd_;
  std::vector<char> buffer_;
  std::string_view input_;  // the part of the buffer that was not read yet
  std::unique_ptr<Unpacker> unpacker_;
  bool between_members_ = true;
  std::uint64_t taken_ = 0, given_ = 0;  // bytes
};

}  // namespace lockstep::textgen
