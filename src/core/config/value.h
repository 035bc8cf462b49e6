// An option's value as text and as JSON, checked against its type and range.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/config/options.h"

namespace lockstep::detail {

// "a whole number from 1 to 64 samples", to complete "must be".
std::string requirement(const OptionInfo& option);
// The range alone, for tables: "1 to 64", "at least 0", "adamw, adam, sgd". Empty if any value is
// allowed.
std::string range_text(const OptionInfo& option);
// The meaning for help, followed by range and unit in brackets: "kept checkpoints [1 to 64 files]".
std::string summary(const OptionInfo& option);
// A bound in the option's JSON form; null if there is none.
nlohmann::json bound(const OptionInfo& option, double number);
// The smallest allowed value. For durations it is at least 0.
double lowest(const OptionInfo& option);

// The value in its JSON form: durations as seconds, lists as arrays of texts. Throws Error if it is
// not allowed.
nlohmann::json parse_value(const OptionInfo& option, std::string_view text);
nlohmann::json check_value(const OptionInfo& option, const nlohmann::json& value);

// A checked value as a user would type it. parse_value reads it back exactly.
std::string value_text(OptionType type, const nlohmann::json& value);

}  // namespace lockstep::detail
