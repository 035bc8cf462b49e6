// Option tables as help for people (terminal, Markdown) and as JSON for programs. Options are
// grouped by the part of the key before the first dot, in the order in which they were added.
// Presets come last.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "core/config/options.h"

namespace lockstep {

// `key=value` with the present value in one column, and meaning, unit and range in another. For a
// value that is not the default, its source follows on the next line. Lines have at most `width`
// columns, unless a word is longer. Ends with a newline.
std::string options_text(std::span<OptionTable* const> tables, int width);

// A level-2 heading and a table for each group. Ends with a newline.
std::string options_markdown(std::span<OptionTable* const> tables);

// {"options": [{key, type, default, value, source, where, meaning, unit, min, max, choices}...],
// "presets": [{name, meaning, values}...]}. Defaults, values and bounds have the JSON type of the
// option. Durations are in seconds. min and max are null if there is no bound.
nlohmann::json options_json(std::span<OptionTable* const> tables);

// "boolean", "integer", "real", "text", "choice", "duration", "list".
const char* to_string(OptionType type);

}  // namespace lockstep
