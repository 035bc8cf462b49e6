// Token files for tests.
#pragma once

#include "core/base/files/files.h"
#include "recipes/textgen/options/token_file.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::textgen {

inline void write_tokens(const std::filesystem::path& path,
                         const std::vector<std::uint16_t>& tokens) {
  TokenHeader header{.magic = {},
                     .version = token_version,
                     .width = 2,
                     .count = static_cast<std::int64_t>(tokens.size())};
  std::memcpy(header.magic, token_magic, sizeof token_magic);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(tokens.data()), 2 * tokens.size());
  write_file_atomic(path, bytes);
}

// Tokens 0, 1, 2, … so that a target tells its position.
inline std::vector<std::uint16_t> counting(std::uint16_t count) {
  std::vector<std::uint16_t> tokens;
  for (std::uint16_t i = 0; i < count; ++i) tokens.push_back(i);
  return tokens;
}

}  // namespace lockstep::textgen
