// A log of another program as JSON: W&B's exported history, pandas' tables, and the
// trainer_state.json of Transformers.
#pragma once

#include "report/facts.h"

#include <filesystem>

namespace lockstep {

bool is_json_log_name(const std::string& name);  // by its ending: .json, .jsonl, .ndjson

// Rows as a list of objects, an object a line, or a table of pandas' to_json (by columns, or as
// "split"). The last line may be torn. Of data, parameters and devices nothing is known. Throws
// Error where it is no such file, or holds no numbers.
Trial read_json_log(const std::filesystem::path& file);

}  // namespace lockstep
