// The bytes of each token, with which tokens become text again without the tokenizer.
//
// Layout, little-endian: "LSPIECES", u32 version, u32 count, u32 offsets[count + 1], then the
// bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "recipes/textgen/options/mapped_file.h"

namespace lockstep::textgen {

class TokenPieces {
 public:
  explicit TokenPieces(const std::filesystem::path& path);  // throws Error if absent or damaged
  std::int64_t size() const { return count_; }
  // Empty for separators and for ids beyond the tokenizer's vocabulary (padding of the embedding).
  std::string_view bytes(std::int64_t token) const;

 private:
  std::uint32_t offset(std::int64_t index) const;

  MappedFile file_;
  std::int64_t count_ = 0;
};

// The file's content for these pieces.
std::string encode_pieces(std::span<const std::string> pieces);

}  // namespace lockstep::textgen
