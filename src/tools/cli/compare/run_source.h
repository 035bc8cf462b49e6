// Opens the source from which a command reads a run: the run's folder, or an export.
#pragma once

#include "core/base/files/files.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/folder/run_dir.h"
#include "tools/cli/arguments.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::cli {

// Help text for the operand RUN of commands that read a run or an export.
inline constexpr const char* source_operand_help =
    "RUN is a folder, a name in the folder of runs (run.root=DIR, by default runs), or a file that "
    "`lockstep export` wrote.";

struct RunSource {
  // For an export, a temporary folder with the export's record and files, in the layout of a run.
  // It is removed when this object is destroyed. For a run, the pointer is null.
  std::unique_ptr<TemporaryDirectory> folder;
  RunDir run;
  // absolute path of the export; empty if the run's checkpoints are used
  std::filesystem::path weights;
  // default folder for predictions/: the run, or for an export the current folder
  std::filesystem::path outputs;
};

// The note if --best finds no undamaged checkpoint that was evaluated. damaged: the damaged
// checkpoints, from best_good.
std::string no_best_note(const std::vector<CheckpointInfo>& damaged);

// Opens the source that the first operand names. If --best finds no checkpoint, prints
// no_best_note. Throws Error with the nearest name if there is no such run. Also throws Error if a
// file is not an export or is damaged, and for an export with --best.
RunSource operand_source(const Parsed& parsed);

// Opens another run or export, whose outputs are averaged with those of the first run
// (predict.also). The plugin in its record is not looked up; callers use the plugin of the first
// run. root: folder in which runs are found by name. Throws Error as operand_source does.
RunSource further_source(const std::string& operand, const std::string& root);

}  // namespace lockstep::cli
