// Durations as users type them: "8h30m", "90s", "1d", "2.5".
#include <array>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/config/options.h"
#include "core/config/parse.h"

namespace lockstep {
namespace {

// From large to small, the only order in which units may appear.
constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
    {{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}, {"ms", 0.001}}};

[[noreturn]] void fail(std::string_view text) {
  throw Error(cat("\"", text, "\" is not a time"),
              "write a number of seconds, or numbers with d, h, m, s or ms from large to small, "
              "such as 8h30m");
}

bool is_number_part(char c) { return (c >= '0' && c <= '9') || c == '.' || c == '_'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

// Removes leading characters of one kind from the text, and spaces before them.
std::string_view take(std::string_view& text, bool (*kind)(char)) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  std::size_t length = 0;
  while (length < text.size() && kind(text[length])) ++length;
  const std::string_view part = text.substr(0, length);
  text.remove_prefix(length);
  return part;
}

// Splits seconds into days, hours, minutes and seconds.
std::string in_units(double seconds) {
  std::string text;
  for (const auto& [unit, length] : kUnits) {
    if (length < 1) break;
    const double count = length > 1 ? std::floor(seconds / length) : seconds;
    if (count > 0) text += cat(detail::format_real(count), unit);
    seconds -= count * length;
  }
  return text;
}

}  // namespace

Duration parse_duration(std::string_view text) {
  if (const auto seconds = detail::parse_real(text)) {
    if (*seconds < 0) fail(text);
    return {*seconds};
  }
  const std::string trimmed = trim(text);
  std::string_view rest = trimmed;
  std::size_t next_unit = 0;
  double seconds = 0;
  do {
    const auto number = detail::parse_real(take(rest, is_number_part));
    const std::string_view name = take(rest, is_letter);
    while (next_unit < kUnits.size() && kUnits[next_unit].first != name) ++next_unit;
    if (!number || next_unit == kUnits.size()) fail(text);
    // Division by 1000 rounds only once, so that 250ms is exactly 0.25 s. Multiplication would
    // round twice.
    const double length = kUnits[next_unit].second;
    seconds += length < 1 ? *number / 1000 : *number * length;
    ++next_unit;
  } while (!rest.empty());
  if (!std::isfinite(seconds)) fail(text);
  return {seconds};
}

std::string format_duration(Duration duration) {
  const double seconds = duration.seconds;
  if (seconds == 0) return "0s";
  const auto has_exponent = [](const std::string& text) { return text.find('e') != text.npos; };
  std::string plain = detail::format_real(seconds);
  if (!has_exponent(plain)) plain += "s";
  if (!(seconds > 0) || seconds >= 1e15) return plain;
  const std::string text =
      seconds < 1 ? cat(detail::format_real(seconds * 1000), "ms") : in_units(seconds);
  // A duration that cannot be split without rounding is printed in seconds.
  return !has_exponent(text) && parse_duration(text) == duration ? text : plain;
}

}  // namespace lockstep
