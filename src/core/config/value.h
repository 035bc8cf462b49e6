// Converts values of options between text and JSON, and checks them against type and range.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/config/options.h"

namespace lockstep::detail {

// Returns the words that complete "must be": "a whole number from 1 to 64 samples".
std::string requirement(const OptionInfo& option);
// Returns only the range, for tables: "1 to 64", "at least 0", "adamw, adam, sgd". Empty if any
// value is allowed.
std::string range_text(const OptionInfo& option);
// Returns the option's meaning for help, followed by range and unit in brackets: "kept checkpoints
// [1 to 64 files]".
std::string summary(const OptionInfo& option);
// Returns `number`, a bound of the option, as JSON of the option's type; null if it is infinite.
nlohmann::json bound(const OptionInfo& option, double number);
// Returns the smallest allowed value. For a duration, it is at least 0.
double lowest(const OptionInfo& option);

// Return the value as JSON: a duration in seconds, a list as an array of texts. Throw Error if the
// value is not allowed.
nlohmann::json parse_value(const OptionInfo& option, std::string_view text);
nlohmann::json check_value(const OptionInfo& option, const nlohmann::json& value);

// Returns a checked value as a user would type it. parse_value reads it back exactly.
std::string value_text(OptionType type, const nlohmann::json& value);

}  // namespace lockstep::detail
