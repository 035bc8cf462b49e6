// `lockstep export --tensorboard`, `--csv` and `--mlflow`: exports the log of a run to other tools.
#pragma once

#include <vector>

#include "tools/cli/arguments.h"

namespace lockstep::cli {

std::vector<Flag> number_flags();
bool asks_for_numbers(const Parsed& parsed);
// Exports the log in the requested formats. Throws Error before anything is written if an output
// exists already, or if a format cannot be written.
void export_numbers(const Parsed& parsed);

}  // namespace lockstep::cli
