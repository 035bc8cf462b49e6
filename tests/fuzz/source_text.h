// The input as a file of the user's text.
#pragma once

#include "fuzz.h"
#include "recipes/textgen/prepare/source_files.h"

namespace lockstep::fuzz {

// It holds the text until the next call.
inline textgen::SourceFile source_file(std::string_view text) {
  static const MemoryFile memory;
  memory.write(text);
  return {.path = memory.path(), .name = "a", .bytes = static_cast<std::int64_t>(text.size())};
}

}  // namespace lockstep::fuzz
