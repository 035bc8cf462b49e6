// A log of another program as a CSV file: a line per step or epoch.
#pragma once

#include "report/facts.h"

#include <filesystem>

namespace lockstep {

// Takes columns by their usual names: step, epoch, time, loss, …; all other numbers are qualities.
// Of data, parameters and devices nothing is known. The last line may be torn. Throws Error where
// it is no table, or holds no numbers.
Trial read_csv_trial(const std::filesystem::path& file);

}  // namespace lockstep
