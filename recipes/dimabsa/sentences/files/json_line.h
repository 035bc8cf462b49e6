// Parses lines of a jsonl file. Errors name the file and the line.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace lockstep::dimabsa {

struct LinePlace {
  std::string file;
  std::int64_t line = 0;

  Error error(const std::string& what, const std::string& hint = {}) const;  // "FILE:LINE: WHAT"
};

// Parses a line. Throws Error if it is not UTF-8 or not a JSON object.
nlohmann::json parse_line(std::string_view line, const LinePlace& place);

// Return the value of a key. Throw Error if the value has another type. Also throw Error if the key
// is absent, and suggest the nearest key.
const std::string& text_at(const nlohmann::json& object, const char* key, const LinePlace& place);
const nlohmann::json& list_at(const nlohmann::json& object, const char* key,
                              const LinePlace& place);

}  // namespace lockstep::dimabsa
