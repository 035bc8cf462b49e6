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

// Returns the value if it is a whole number from `least` to `most`. Returns nothing for any other
// value, such as a text, 1.0, or a number that is too large for `Number`. nlohmann::json would
// convert such values.
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

// The same for a member of an object. Throws Error that names the member if it is missing or
// whole_number_of returns nothing.
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
