// Reads whole numbers from JSON that a person or another program wrote.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {

// The value as a number from `least` to `most`. Nothing for any other value, such as a text, a
// number with a decimal point, or a number that is too large for its type. nlohmann::json would
// convert these.
template <class Number = std::int64_t>
std::optional<Number> whole_number_of(const nlohmann::json& value, Number least = 0,
                                      Number most = std::numeric_limits<Number>::max()) {
  const auto in_range = [&](auto number) -> std::optional<Number> {
    if (std::cmp_less(number, least) || std::cmp_greater(number, most)) return std::nullopt;
    return static_cast<Number>(number);
  };
  if (value.is_number_unsigned()) return in_range(value.get<std::uint64_t>());
  if (value.is_number_integer()) return in_range(value.get<std::int64_t>());
  return std::nullopt;
}

// The same for a member that must be such a number. If it is not, throws Error that names the
// member.
template <class Number = std::int64_t>
Number whole_member(const nlohmann::json& object, const char* key, Number least = 0,
                    Number most = std::numeric_limits<Number>::max()) {
  const auto found = object.find(key);
  if (found != object.end())
    if (const auto number = whole_number_of<Number>(*found, least, most)) return *number;
  throw Error(cat(key, " must be a whole number from ", least, " to ", most, ", but is ",
                  found == object.end() ? "not there" : found->dump(-1, ' ', true)));
}

}  // namespace lockstep
