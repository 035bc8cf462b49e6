// Parses numbers, booleans and lists as people type them. The locale does not matter. Each parse
// function returns nothing if the text is not valid.
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
// Parses "a, b" as {"a", "b"}. A backslash escapes a comma, a space or a backslash. An empty text
// gives an empty list.
std::optional<std::vector<std::string>> parse_list(std::string_view text);

// returns the shortest text that parse_real reads back exactly
std::string format_real(double value);
std::string format_list(const std::vector<std::string>& items);

}  // namespace lockstep::detail
