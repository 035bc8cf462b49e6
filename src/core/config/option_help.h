// Option tables as help for people (terminal, Markdown) and as JSON for programs. Options are
// grouped by the key's part before the first dot, in the order added. The presets come last.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "core/config/options.h"

namespace lockstep {

// `key=value` with the present value in one column, and meaning, unit and range wrapped beside it.
// The source of a value that is not the default stands below them. At most `width` columns wide if
// the words allow. Ends with a newline.
std::string options_text(std::span<OptionTable* const> tables, int width);

// A heading of level 2 and a table for each group. Ends with a newline.
std::string options_markdown(std::span<OptionTable* const> tables);

// {"options": [{key, type, default, value, source, where, meaning, unit, min, max, choices}...],
// "presets": [{name, meaning, values}...]}. Defaults, values and bounds have the option's own JSON
// type; durations are in seconds. min and max are null if there is no bound.
nlohmann::json options_json(std::span<OptionTable* const> tables);

// "boolean", "integer", "real", "text", "choice", "duration", "list".
const char* to_string(OptionType type);

}  // namespace lockstep
