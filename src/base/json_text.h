// JSON that is written straight into a text, where a tree of values would take most of the time.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// Adds the text as one of JSON, in quotes. False, and nothing is added, if it is no valid UTF-8.
bool append_json_text(std::string& json, std::string_view text);

// Adds the shortest number that reads back as this one. It must be finite.
void append_json_number(std::string& json, double number);

}  // namespace lockstep
