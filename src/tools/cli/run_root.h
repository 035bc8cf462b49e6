// The folder of runs: run.root, under this name on every command.
#pragma once

#include "runtime/run/folder/run_dir.h"
#include "tools/cli/arguments.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

// An option's value from arguments, else from config files; nothing if neither sets it. Throws
// Error if a file cannot be read.
std::optional<nlohmann::json> option_given(const Parsed& parsed, const std::string& key);

// run.root from arguments, else from config files, else the default. Throws Error if a file cannot
// be read.
std::string run_root(const Parsed& parsed);

// Help text for the operand RUN.
inline constexpr const char* run_operand_help =
    "RUN is a folder, or a name in the folder of runs (run.root=DIR, by default runs).";

// --root, which these commands used to have.
TriedFlag tried_root();

// The recipe of the run that is named among the words of a command line that is not parsed yet; ""
// if none is.
std::string recipe_of_named_run(const std::vector<std::string>& words);

// The run that the first operand names. Throws Error naming the nearest.
RunDir operand_run(const Parsed& parsed);

}  // namespace lockstep::cli
