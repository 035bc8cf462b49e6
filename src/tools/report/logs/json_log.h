// Reads another program's log from JSON: W&B's exported history, pandas' tables, and Transformers'
// trainer_state.json.
#pragma once

#include "tools/report/facts/facts.h"

#include <filesystem>

namespace lockstep {

bool is_json_log_name(const std::string& name);  // judged by its ending: .json, .jsonl, .ndjson

// Reads rows from a list of objects, from one object per line, or from a table of pandas' to_json
// (by columns, or as "split"). The last line may be incomplete. Data, parameters and devices are
// unknown. Throws Error if it is not such a file, or has no numbers.
Trial read_json_log(const std::filesystem::path& file);

}  // namespace lockstep
