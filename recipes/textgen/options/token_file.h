// Reads a stream of tokens from a memory-mapped file, so a corpus may be larger than memory.
//
// The file contains a TokenHeader, then `count` tokens of `width` bytes each. All numbers are
// little-endian.
#pragma once

#include <cstdint>
#include <filesystem>

#include "recipes/textgen/options/mapped_file.h"

namespace lockstep::textgen {

struct TokenHeader {
  char magic[8];  // always "LSTOKENS"
  std::uint32_t version;
  std::uint32_t width;  // bytes per token: 2 = u16, 4 = u32
  std::int64_t count;
};
inline constexpr char token_magic[8] = {'L', 'S', 'T', 'O', 'K', 'E', 'N', 'S'};
inline constexpr std::uint32_t token_version = 1;

// Several threads may use a TokenFile at once.
class TokenFile {
 public:
  // Throws Error if the file is absent or damaged.
  explicit TokenFile(const std::filesystem::path& path);
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
