// The source from which a command reads a run: the run's folder, or an export of it.
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

// Help text for the operand RUN of such commands.
inline constexpr const char* source_operand_help =
    "RUN is a folder, a name in the folder of runs (run.root=DIR, by default runs), or a file that "
    "`lockstep export` wrote.";

struct RunSource {
  // For an export: a folder with the export's record and files, laid out as a run. It exists during
  // the lifetime of this object.
  std::unique_ptr<TemporaryDirectory> folder;
  RunDir run;
  std::filesystem::path weights;  // the export, absolute; empty: uses the run's checkpoints
  std::filesystem::path outputs;  // folder in which predictions/ is created by default
};

// The note for the case that --best finds no good checkpoint that was evaluated. damaged: from
// best_good.
std::string no_best_note(const std::vector<CheckpointInfo>& damaged);

// Opens the source that the first operand names. Prints a note if --best finds nothing to choose
// by. Throws Error if there is no such run (it suggests the nearest), or if a file is no export or
// is damaged.
RunSource operand_source(const Parsed& parsed);

// Opens a further run or export, with the operand's plugin instead of its own. root: where runs are
// searched by name. Throws Error as operand_source does.
RunSource further_source(const std::string& operand, const std::string& root);

}  // namespace lockstep::cli
