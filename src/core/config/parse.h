// Parses numbers, words and lists as people type them, independent of the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::detail {

std::optional<bool> parse_boolean(std::string_view text);  // true/false, yes/no, on/off, 1/0
std::optional<std::int64_t> parse_integer(std::string_view text);  // digits, sign, 10_000
std::optional<double> parse_real(std::string_view text);           // finite
// "a, b" is {"a", "b"}. A backslash escapes a comma, a space or a backslash. An empty text is an
// empty list.
std::optional<std::vector<std::string>> parse_list(std::string_view text);

std::string format_real(double value);  // the shortest text that parse_real reads back exactly
std::string format_list(const std::vector<std::string>& items);

}  // namespace lockstep::detail
