// A stream of tokens in a memory-mapped file, so that a corpus may be larger than memory.
//
// Layout, little-endian: a TokenHeader, then `count` tokens of `width` bytes each.
#pragma once

#include <cstdint>
#include <filesystem>

#include "recipes/textgen/options/mapped_file.h"

namespace lockstep::textgen {

struct TokenHeader {
  char magic[8];  // "LSTOKENS"
  std::uint32_t version;
  std::uint32_t width;  // 2 = u16, 4 = u32
  std::int64_t count;
};
inline constexpr char token_magic[8] = {'L', 'S', 'T', 'O', 'K', 'E', 'N', 'S'};
inline constexpr std::uint32_t token_version = 1;

// Reads are thread-safe.
class TokenFile {
 public:
  explicit TokenFile(const std::filesystem::path& path);  // throws Error if absent or damaged
  std::int64_t size() const { return count_; }
  std::int64_t at(std::int64_t index) const;
  // Writes tokens [begin, begin + count) to `out`.
  void copy(std::int64_t begin, std::int64_t count, std::int32_t* out) const;
  void copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const;

 private:
  template <class Out>
  void copy_as(std::int64_t begin, std::int64_t count, Out* out) const;

  MappedFile file_;
  std::int64_t count_ = 0;
  std::uint32_t width_ = 0;
};

}  // namespace lockstep::textgen
