// Option tables for people (terminal, Markdown) and programs (JSON): grouped by the part of the key
// before the first dot, in the order added, with the presets at the end.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "config/options.h"

namespace lockstep {

// `key=value` in one column, with the present value; meaning, unit and range wrapped beside it, and
// below them where a value comes from that is not the default. At most `width` columns wide where
// words allow. Ends with a newline.
std::string options_text(std::span<OptionTable* const> tables, int width);

// A heading of level 2 and a table for each group. Ends with a newline.
std::string options_markdown(std::span<OptionTable* const> tables);

// {"options": [{key, type, default, value, source, where, meaning, unit, min, max, choices}...],
//  "presets": [{name, meaning, values}...]}. Defaults, values and bounds in the option's own JSON
// type, durations in seconds; min and max are null where there is no bound.
nlohmann::json options_json(std::span<OptionTable* const> tables);

// "boolean", "integer", "real", "text", "choice", "duration", "list".
const char* to_string(OptionType type);

}  // namespace lockstep
