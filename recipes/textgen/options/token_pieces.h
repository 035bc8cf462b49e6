// Reads the bytes of each token (its piece) from a file. So tokens can be turned into text without
// the tokenizer.
//
// The file contains "LSPIECES", u32 version, u32 count, u32 offsets[count + 1], then the bytes of
// all pieces. All numbers are little-endian.
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
  // Throws Error if the file is absent or damaged.
  explicit TokenPieces(const std::filesystem::path& path);
  std::int64_t size() const { return count_; }
  // Returns the bytes of a token. The result is empty for separators of documents. It is also empty
  // for ids beyond the tokenizer's vocabulary. These ids exist if the embedding has more rows than
  // the vocabulary.
  std::string_view bytes(std::int64_t token) const;

 private:
  std::uint32_t offset(std::int64_t index) const;

  MappedFile file_;
  std::int64_t count_ = 0;
};

// Returns the content of a file with these pieces.
std::string encode_pieces(std::span<const std::string> pieces);

}  // namespace lockstep::textgen
