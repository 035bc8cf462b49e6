// Files of one JSON object a line that survive kills and full disks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/files.h"

namespace lockstep {

// Opens for appending, creating the file, and cuts off a last line without its newline, which a
// killed writer left. A symbolic link is not followed. Throws Error.
UniqueFd open_lines(const std::filesystem::path& path);

// Appends the line and a newline with one write, where that writes all. False if it could not be
// written whole; then the file is as before and errno says why. `line` must hold no newline.
bool append_line(int fd, std::string_view line);

// As one line, without throwing: invalid UTF-8 is replaced, numbers that are not finite become
// null.
std::string to_line(const nlohmann::json& value);

// Calls `visit` for each line that ended with a newline. A missing file has no lines. Throws Error
// if the file is there and cannot be read, or a line has more than `most_bytes`; no more than that
// is ever in memory.
void for_each_line(const std::filesystem::path& path,
                   const std::function<void(const std::string&)>& visit,
                   std::uint64_t most_bytes = record_bytes);

// Whether EventWriter wrote the line for a step. A long run has a million such, which are not
// parsed.
bool is_step_line(std::string_view line);
// A number of such a line, by its key; NaN if there is none.
double quick_number(std::string_view line, std::string_view key);

// The object on this line, or a discarded value if it holds none.
nlohmann::json parse_object(std::string_view line);

// The value of a key if it is a number, else `otherwise`; never throws. Whole numbers are at most
// 2^53, as far as every reader of JSON counts exactly.
double number_or(const nlohmann::json& object, const char* key, double otherwise);
std::int64_t integer_or(const nlohmann::json& object, const char* key, std::int64_t otherwise);
bool is_true(const nlohmann::json& object, const char* key);
std::string text_or(const nlohmann::json& object, const char* key, const std::string& otherwise);

}  // namespace lockstep
