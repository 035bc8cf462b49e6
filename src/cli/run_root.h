// Where runs lie: run.root, by its one name on every command.
#pragma once

#include "cli/arguments.h"
#include "run/run_dir.h"

#include <optional>
#include <string>

namespace lockstep::cli {

// The value that arguments, else config files, give an option; nothing where none does. Throws
// Error if a file cannot be read.
std::optional<nlohmann::json> option_given(const Parsed& parsed, const std::string& key);

// run.root as arguments, else config files, else the default give it. Throws Error if a file cannot
// be read.
std::string run_root(const Parsed& parsed);

// How help speaks of the operand RUN.
inline constexpr const char* run_operand_help =
    "RUN is a folder, or a name in the folder of runs (run.root=DIR, by default runs).";

// --root, which these commands had.
TriedFlag tried_root();

// The run that the first operand names. Throws Error naming the nearest.
RunDir operand_run(const Parsed& parsed);

}  // namespace lockstep::cli
