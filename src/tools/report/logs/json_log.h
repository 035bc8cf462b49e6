// Reads another program's log from JSON: W&B's exported history, tables of pandas, and
// Transformers' trainer_state.json.
#pragma once

#include "tools/report/facts/facts.h"

#include <filesystem>

namespace lockstep {

// whether the name ends in .json, .jsonl or .ndjson
bool is_json_log_name(const std::string& name);

// Reads rows from a list of objects, or from lines with one object each. Also reads a table that
// pandas' to_json wrote, by columns or as "split". The last line may be incomplete. Data,
// parameters and devices are unknown. Throws Error if the file is not such a log, or has no
// numbers.
Trial read_json_log(const std::filesystem::path& file);

}  // namespace lockstep
