// A log of another program as a CSV file: a line per step or epoch.
#pragma once

#include "report/facts.h"

#include <filesystem>

namespace lockstep {

// steps.csv and evaluations.csv, as `lockstep export --csv` writes them.
bool has_own_tables(const std::filesystem::path& folder);

// Takes columns by their usual names (foreign_log.h); all other numbers are qualities. Of data,
// parameters and devices nothing is known. The last line may be torn. Of an export, given by its
// folder or its steps.csv, evaluations.csv and starts.csv beside the steps count too. Throws Error
// where it is no table, or holds no numbers.
Trial read_csv_trial(const std::filesystem::path& path);

}  // namespace lockstep
