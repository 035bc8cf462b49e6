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

// Return the value of a key. text_at throws Error if the value is not a string, and list_at if it
// is not a list. Both also throw Error if the key is absent. This Error suggests a similar key or
// lists the keys.
const std::string& text_at(const nlohmann::json& object, const char* key, const LinePlace& place);
const nlohmann::json& list_at(const nlohmann::json& object, const char* key,
                              const LinePlace& place);

}  // namespace lockstep::dimabsa
