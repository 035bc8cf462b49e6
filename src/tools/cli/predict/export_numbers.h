// lockstep export --tensorboard, --csv, --mlflow: exports a run's log to other tools.
#pragma once

#include <vector>

#include "tools/cli/arguments.h"

namespace lockstep::cli {

std::vector<Flag> number_flags();
bool asks_for_numbers(const Parsed& parsed);
// Throws Error before anything is written if a folder is not free, or if a requested format cannot
// be written.
void export_numbers(const Parsed& parsed);

}  // namespace lockstep::cli
