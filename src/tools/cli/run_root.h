// Finds the folder of runs, which every command takes from the option run.root. Opens runs in it by
// name.
#pragma once

#include "runtime/run/folder/run_dir.h"
#include "tools/cli/arguments.h"

#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

// Returns the value of an option from the arguments, or else from config files. Returns nothing if
// neither sets it. Throws Error if a file cannot be read.
std::optional<nlohmann::json> option_given(const Parsed& parsed, const std::string& key);

// Returns run.root from the arguments, or else from config files, or else its default. Throws Error
// if a file cannot be read.
std::string run_root(const Parsed& parsed);

// Help text for the operand RUN.
inline constexpr const char* run_operand_help =
    "RUN is a folder, or a name in the folder of runs (run.root=DIR, by default runs).";

// The hint for the flag --root, which commands had in earlier versions.
TriedFlag tried_root();

// Finds a run that is named in the words of a command line, before they are parsed. Returns the
// recipe of that run; "" if no run is named.
std::string recipe_of_named_run(const std::vector<std::string>& words);

// Opens the run that the first operand names. Throws Error if there is no such run; the error
// suggests the nearest name.
RunDir operand_run(const Parsed& parsed);

}  // namespace lockstep::cli
