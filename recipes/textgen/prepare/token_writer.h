// Writes a token file (options/token_file.h) without holding all tokens in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/files/fd.h"
#include "core/base/hash.h"

namespace lockstep::textgen {

// Tokens are stored as u16 if all ids of the vocabulary fit into 16 bits, else as u32. This class
// is not thread-safe. All functions throw Error if writing fails.
class TokenWriter {
 public:
  TokenWriter(std::filesystem::path path, std::int64_t vocabulary);
  void write(std::uint32_t token);
  void write(std::span<const std::uint32_t> tokens);
  std::int64_t count() const { return count_; }
  // Writes the header, then syncs and closes the file. Returns the XXH3-128 of the tokens.
  std::string finish();

 private:
  void flush();
  void write_at(const void* data, std::size_t bytes, std::int64_t offset);

  std::filesystem::path path_;
  UniqueFd fd_;
  std::uint32_t width_;
  std::int64_t count_ = 0;
  std::int64_t written_bytes_ = 0;
  std::string buffer_;
  Hasher hash_;
};

}  // namespace lockstep::textgen
