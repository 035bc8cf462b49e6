// Reads another program's log from a CSV file with a line per step or epoch.
#pragma once

#include "tools/report/facts/facts.h"

#include <filesystem>

namespace lockstep {

// Whether the folder has steps.csv and evaluations.csv, which `lockstep export --csv` writes.
bool has_own_tables(const std::filesystem::path& folder);

// Recognises the columns of steps, epochs and times by their usual names (foreign_log.h). All other
// columns of numbers are qualities of the result. Data, parameters and devices are unknown. The
// last line may be incomplete. The path may be the folder of an export or its steps.csv. In these
// cases, evaluations.csv and starts.csv in the same folder are read too. Throws Error if the file
// is not a table, or has no numbers.
Trial read_csv_trial(const std::filesystem::path& path);

}  // namespace lockstep
