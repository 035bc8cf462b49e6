// Reads whole numbers from text that a person or another program wrote.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace lockstep {

// Returns the text as a number from `least` to `most`. The text must consist of decimal digits,
// after an optional minus sign. Returns nothing for any other text, such as "", " 1", "+1", "1.0",
// "1x", or a number out of range. Does not depend on the locale.
template <class Number = std::int64_t>
std::optional<Number> whole_number(std::string_view text, Number least = 0,
                                   Number most = std::numeric_limits<Number>::max()) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < least || number > most) return std::nullopt;
  return number;
}

}  // namespace lockstep
