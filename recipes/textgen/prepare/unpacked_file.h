// Files that may be packed by gzip or zstd: reads their unpacked contents forwards.
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

// An archive is refused if it unpacks to more than this many times its size and to more than this
// many bytes; text is packed to a third or a tenth.
inline constexpr std::uint64_t most_unpacked_times = 200, least_bomb_bytes = 64 << 20;

// Archives are known by how they begin, whatever their names are; all others are read as they are.
// Several members or frames one behind the other are one text. Takes memory for a part of the file
// (zstd: and for its window, 128 MiB at most). Not thread-safe.
class UnpackedFile {
 public:
  explicit UnpackedFile(const std::filesystem::path& path);  // throws Error
  ~UnpackedFile();
  UnpackedFile(const UnpackedFile&) = delete;
  UnpackedFile& operator=(const UnpackedFile&) = delete;

  // As many bytes as there are; fewer only at the end. Throws Error, which names the file, if it
  // cannot be read, is damaged, cut off, or unpacks to too much.
  std::size_t read(std::span<char> out);
  // The same as reading that many.
  void skip(std::int64_t bytes);

 private:
  class Unpacker;
  class Gzip;
  class Zstd;

  bool fill();  // whether there is more input
  bool begins_member();
  [[noreturn]] void fail(const std::string& why, const std::string& hint) const;
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path path_;
  UniqueFd fd_;
  std::vector<char> buffer_;
  std::string_view input_;  // of the buffer, not read yet
  std::unique_ptr<Unpacker> unpacker_;
  bool between_members_ = true;
  std::uint64_t taken_ = 0, given_ = 0;  // bytes
};

}  // namespace lockstep::textgen
