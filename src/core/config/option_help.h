// Formats option tables as help for people (terminal, Markdown) and as JSON for programs. Options
// are grouped by the part of the key before the first dot, in the order in which they were added.
// Presets come last.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "core/config/options.h"

namespace lockstep {

// Returns a text with two columns: `key=value` with the present value, and the option's meaning,
// unit and range. If the value is not the default, the next line names its source. No line is wider
// than `width`, unless a word is longer. The text ends with a newline.
std::string options_text(std::span<OptionTable* const> tables, int width);

// Returns Markdown with a level-2 heading and a table for each group. It ends with a newline.
std::string options_markdown(std::span<OptionTable* const> tables);

// {"options": [{key, type, default, value, source, where, meaning, unit, min, max, choices}...],
// "presets": [{name, meaning, values}...]}. Defaults, values and bounds have the JSON type of the
// option. Durations are in seconds. min and max are null if there is no bound.
nlohmann::json options_json(std::span<OptionTable* const> tables);

// "boolean", "integer", "real", "text", "choice", "duration", "list".
const char* to_string(OptionType type);

}  // namespace lockstep
