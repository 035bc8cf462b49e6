// The tokens that every byte-level vocabulary has.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/text/utf8.h"

namespace lockstep::fuzz {

// The 256 bytes as GPT-2's vocab.json writes them, each with its value as its token.
inline nlohmann::json byte_vocabulary() {
  nlohmann::json vocabulary = nlohmann::json::object();
  std::uint32_t next = 256;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const bool printable =
        (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    std::string text;
    append_utf8(text, printable ? byte : next++);
    vocabulary[text] = byte;
  }
  return vocabulary;
}

}  // namespace lockstep::fuzz
