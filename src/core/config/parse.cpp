// Parses numbers, words and lists as users type them, independent of the locale.
#include "core/config/parse.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep::detail {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Removes a plus sign, and underscores between digits. Returns nothing if one stands elsewhere.
std::optional<std::string> plain_number(std::string_view text) {
  std::string number = trim(text);
  if (number.size() > 1 && number[0] == '+' && number[1] != '-') number.erase(0, 1);
  std::string plain;
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (number[i] != '_') {
      plain += number[i];
    } else if (i == 0 || i + 1 == number.size() || !is_digit(number[i - 1]) ||
               !is_digit(number[i + 1])) {
      return std::nullopt;
    }
  }
  return plain;
}

// Turns "1e-08" into "1e-8".
std::string short_exponent(std::string text) {
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  if (text[e + 1] == '+') text.erase(e + 1, 1);
  const std::size_t digits = e + 1 + (text[e + 1] == '-');
  while (digits + 1 < text.size() && text[digits] == '0') text.erase(digits, 1);
  return text;
}

}  // namespace

std::optional<bool> parse_boolean(std::string_view text) {
  const std::string word = trim(text);
  if (word == "true" || word == "yes" || word == "on" || word == "1") return true;
  if (word == "false" || word == "no" || word == "off" || word == "0") return false;
  return std::nullopt;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const std::optional<std::string> plain = plain_number(text);
  return plain ? whole_number(*plain, INT64_MIN) : std::nullopt;
}

std::optional<double> parse_real(std::string_view text) {
  const std::optional<std::string> plain = plain_number(text);
  if (!plain) return std::nullopt;
  double value = 0;
  const char* const end = plain->data() + plain->size();
  const auto [stop, error] = std::from_chars(plain->data(), end, value);
  return error == std::errc() && stop == end && std::isfinite(value) ? std::optional(value)
                                                                     : std::nullopt;
}

std::optional<std::vector<std::string>> parse_list(std::string_view text) {
  std::vector<std::string> items;
  if (text.find_first_not_of(' ') == text.npos) return items;
  std::string item;
  // The length of the item up to the last character that is kept.
  std::size_t length = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || text[i] == ',') {
      item.resize(length);
      if (item.empty()) return std::nullopt;
      items.push_back(std::exchange(item, {}));
      length = 0;
      continue;
    }
    const bool escaped = text[i] == '\\' && i + 1 < text.size() &&
                         (text[i + 1] == ',' || text[i + 1] == ' ' || text[i + 1] == '\\');
    if (escaped) ++i;
    const bool space = !escaped && text[i] == ' ';
    if (space && item.empty()) continue;
    item += text[i];
    if (!space) length = item.size();
  }
  return items;
}

std::string format_real(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value)) return general(value, 1);
  if (value == std::floor(value) && size < 1e15) return fixed(value, 0);
  char buffer[64];
  const auto format =
      size >= 1e-4 && size < 1e15 ? std::chars_format::fixed : std::chars_format::scientific;
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value, format);
  return short_exponent(std::string(buffer, result.ptr));
}

std::string format_list(const std::vector<std::string>& items) {
  std::vector<std::string> escaped;
  for (const std::string& item : items) {
    std::string text;
    for (std::size_t i = 0; i < item.size(); ++i) {
      const bool edge_space = item[i] == ' ' && (i == 0 || i + 1 == item.size());
      if (item[i] == ',' || item[i] == '\\' || edge_space) text += '\\';
      text += item[i];
    }
    escaped.push_back(text);
  }
  return join(escaped, ",");
}

}  // namespace lockstep::detail
