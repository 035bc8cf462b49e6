// Reads another program's log from a CSV file: a line per step or epoch.
#pragma once

#include "tools/report/facts/facts.h"

#include <filesystem>

namespace lockstep {

// Whether the folder has steps.csv and evaluations.csv, as `lockstep export --csv` writes them.
bool has_own_tables(const std::filesystem::path& folder);

// Recognises columns by their usual names (foreign_log.h); all other numbers are qualities. Data,
// parameters and devices are unknown. The last line may be incomplete. If the path is the folder of
// an export or its steps.csv, evaluations.csv and starts.csv are read too. Throws Error if it is
// not a table, or has no numbers.
Trial read_csv_trial(const std::filesystem::path& path);

}  // namespace lockstep
