// What commands read that take a run: its folder, or an export of one.
#pragma once

#include "base/files.h"
#include "cli/arguments.h"
#include "run/run_dir.h"

#include <filesystem>
#include <memory>

namespace lockstep::cli {

// How help speaks of the operand RUN of such commands.
inline constexpr const char* source_operand_help =
    "RUN is a folder, a name in the folder of runs (run.root=DIR, by default runs), or a file that "
    "`lockstep export` wrote.";

struct RunSource {
  // Of an export: a folder with its record and its files, as a run has them, until this goes.
  std::unique_ptr<TemporaryDirectory> folder;
  RunDir run;
  std::filesystem::path weights;  // the export, absolute; empty: the run's checkpoints
  std::filesystem::path outputs;  // in whose folder predictions/ they go by default
};

// Of the first operand. Throws Error: no such run (the nearest named), a file that is no export, or
// is damaged.
RunSource operand_source(const Parsed& parsed);

// Of a run or an export beside the operand's, with the operand's plugin in place of its own. root:
// where runs are looked for by name. Throws Error likewise.
RunSource further_source(const std::string& operand, const std::string& root);

}  // namespace lockstep::cli
