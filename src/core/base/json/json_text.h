// Writes JSON directly into a text. This is for code in which building a tree of values would take
// most of the time.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// Appends the text as a JSON string, in quotes. If it is not valid UTF-8, returns false and appends
// nothing.
bool append_json_text(std::string& json, std::string_view text);

// Appends a number, with the fewest digits that read back exactly. It must be finite.
void append_json_number(std::string& json, double number);

}  // namespace lockstep
