// lockstep export --tensorboard, --csv, --mlflow: what a run logged, for other tools.
#pragma once

#include <vector>

#include "cli/arguments.h"

namespace lockstep::cli {

std::vector<Flag> number_flags();
bool asks_for_numbers(const Parsed& parsed);
// Throws Error before anything is written where a folder is not free, or where a format was asked
// for that cannot be written.
void export_numbers(const Parsed& parsed);

}  // namespace lockstep::cli
