// Files with one JSON object per line, which survive kills and full disks.
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

// Opens for appending and creates the file if needed. A killed writer may have left a last line
// without its newline; that line is cut off. Does not follow a symbolic link. Throws Error.
UniqueFd open_lines(const std::filesystem::path& path);

// Appends the line and a newline, usually with a single write. Returns false if the line could not
// be written completely. The file is then as before, and errno holds the reason. `line` must not
// contain a newline.
bool append_line(int fd, std::string_view line);

// The value as one line. Does not throw: invalid UTF-8 is replaced, and non-finite numbers become
// null.
std::string to_line(const nlohmann::json& value);

// Calls `visit` for each line that ends with a newline. A missing file has no lines. Throws Error
// if the file exists but cannot be read, or if a line has more than `most_bytes`. Memory holds only
// one line at a time.
void for_each_line(const std::filesystem::path& path,
                   const std::function<void(const std::string&)>& visit,
                   std::uint64_t most_bytes = record_bytes);

// Whether this is a step's line of EventWriter. Long runs have a million of them, so they are not
// parsed as JSON.
bool is_step_line(std::string_view line);
// The number of a key in such a line; NaN if there is none.
double quick_number(std::string_view line, std::string_view key);

// The object on this line. If there is none, a discarded value, for which is_discarded() is true.
nlohmann::json parse_object(std::string_view line);

// The value of a key, or `otherwise` if it is missing or not a number. Never throws. A whole number
// beyond 2^53 also gives `otherwise`, because not every JSON reader handles it exactly.
double number_or(const nlohmann::json& object, const char* key, double otherwise);
std::int64_t integer_or(const nlohmann::json& object, const char* key, std::int64_t otherwise);
bool is_true(const nlohmann::json& object, const char* key);
std::string text_or(const nlohmann::json& object, const char* key, const std::string& otherwise);

}  // namespace lockstep
