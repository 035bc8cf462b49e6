// The folder of runs. Every command takes it from the option run.root.
#pragma once

#include "runtime/run/folder/run_dir.h"
#include "tools/cli/arguments.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

// The value of an option from arguments, or else from config files; nothing if neither sets it.
// Throws Error if a file cannot be read.
std::optional<nlohmann::json> option_given(const Parsed& parsed, const std::string& key);

// run.root from arguments, or else from config files, or else the default. Throws Error if a file
// cannot be read.
std::string run_root(const Parsed& parsed);

// Help text for the operand RUN.
inline constexpr const char* run_operand_help =
    "RUN is a folder, or a name in the folder of runs (run.root=DIR, by default runs).";

// The flag --root, which these commands had in earlier versions.
TriedFlag tried_root();

// Finds a run that is named among the words of a command line that is not parsed yet. Returns its
// recipe; "" if no run is named.
std::string recipe_of_named_run(const std::vector<std::string>& words);

// Opens the run that the first operand names. If there is none, throws Error that suggests the
// nearest.
RunDir operand_run(const Parsed& parsed);

}  // namespace lockstep::cli
