// Files with one JSON object per line. They stay readable after a kill or a full disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/files/fd.h"
#include "core/base/files/files.h"

namespace lockstep {

// Opens a file for appending, and creates it if it is missing. If a killed writer left a last line
// without its newline, removes that line. Throws Error if the file cannot be opened, or if it is a
// symbolic link.
UniqueFd open_lines(const std::filesystem::path& path);

// Appends the line and a newline, usually with a single write. Returns false if the line could not
// be written completely. In that case, the file is as before, and errno holds the reason. `line`
// must not contain a newline.
bool append_line(int fd, std::string_view line);

// Returns the JSON text of the value on one line. Never throws. Invalid UTF-8 is replaced, and
// non-finite numbers become null.
std::string to_line(const nlohmann::json& value);

// Calls `visit` for each line that ends with a newline. A missing file has no lines. Throws Error
// if the file exists but cannot be read, or if a line has more than `most_bytes`. Only one line at
// a time is in memory.
void for_each_line(const std::filesystem::path& path,
                   const std::function<void(const std::string&)>& visit,
                   std::uint64_t most_bytes = record_bytes);

// Whether EventWriter wrote this line for a "step" event. Long runs have a million such lines, so
// they are not parsed as JSON.
bool is_step_line(std::string_view line);
// Returns the number under `key` in the line of a "step" event. NaN if the line has no such number.
double quick_number(std::string_view line, std::string_view key);

// Returns the JSON object on this line. If the line is not an object, returns a value for which
// is_discarded() is true.
nlohmann::json parse_object(std::string_view line);

// These functions return the value of a key. If the key is missing or its value has another type,
// they return `otherwise` or false. They never throw. integer_or also returns `otherwise` for
// numbers beyond 2^53, because not every JSON reader handles them exactly.
double number_or(const nlohmann::json& object, const char* key, double otherwise);
std::int64_t integer_or(const nlohmann::json& object, const char* key, std::int64_t otherwise);
bool is_true(const nlohmann::json& object, const char* key);
std::string text_or(const nlohmann::json& object, const char* key, const std::string& otherwise);

}  // namespace lockstep
