// Files with one JSON object per line that survive kills and full disks.
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

// Opens for appending and creates the file if needed. Cuts off a last line without its newline,
// which a killed writer left. Does not follow a symbolic link. Throws Error.
UniqueFd open_lines(const std::filesystem::path& path);

// Appends the line and a newline, with one write if that writes all. Returns false if the line
// could not be written whole; the file is then as before, and errno says why. `line` must hold no
// newline.
bool append_line(int fd, std::string_view line);

// The value as one line, without throwing: invalid UTF-8 is replaced, non-finite numbers become
// null.
std::string to_line(const nlohmann::json& value);

// Calls `visit` for each line that ends with a newline. A missing file has no lines. Throws Error
// if the file exists but cannot be read, or if a line has more than `most_bytes`. No more than that
// is ever in memory.
void for_each_line(const std::filesystem::path& path,
                   const std::function<void(const std::string&)>& visit,
                   std::uint64_t most_bytes = record_bytes);

// Whether EventWriter wrote the line for a step. Long runs have a million such lines, which are not
// parsed.
bool is_step_line(std::string_view line);
// A number in such a line, by its key; NaN if there is none.
double quick_number(std::string_view line, std::string_view key);

// The object on this line, or a discarded value if there is none.
nlohmann::json parse_object(std::string_view line);

// The value of a key if it is a number, otherwise `otherwise`; never throws. A whole number beyond
// 2^53, up to which every JSON reader counts exactly, also gives `otherwise`.
double number_or(const nlohmann::json& object, const char* key, double otherwise);
std::int64_t integer_or(const nlohmann::json& object, const char* key, std::int64_t otherwise);
bool is_true(const nlohmann::json& object, const char* key);
std::string text_or(const nlohmann::json& object, const char* key, const std::string& otherwise);

}  // namespace lockstep
