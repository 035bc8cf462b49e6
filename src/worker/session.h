// A rank's prerequisites: its run, its place in the world, its device.
#pragma once

#include "planning/run_setup.h"
#include "runtime/launch/world/world.h"
#include "runtime/run/folder/run_dir.h"
#include "training/distributed/process_group.h"
#include "training/recipe/recipe.h"
#include "training/trainer/trainer.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct Session {
  World world = {};
  Backend* backend = nullptr;
  std::unique_ptr<ProcessGroup> group;
  std::optional<RunDir> run;
  RunSetup setup;
  std::unique_ptr<Recipe> recipe;
  StartUp* start_up = nullptr;         // passed on to the trainer
  std::filesystem::path weights = {};  // TrainerSetup::weights
  bool finished = false;  // foreign: the run to resume had finished; there is nothing to do
  bool foreign = false;   // the world was made by torchrun, Slurm or mpirun, not by `lockstep`

  TrainerSetup trainer(bool resume);
};

// The world that the environment describes, or one of this process alone. Removes the launcher's
// store from the environment, so only the first call has it.
World own_world();

// Limits for ranks that nobody watches for hangs: all but training ranks.
inline constexpr RankLimits unwatched{.collective_s = 600};

// Opens a rank of a world that `lockstep` launched, or a world of one. record: a file that replaces
// RUN/run.json, or empty.
Session open_session(const std::filesystem::path& run, const std::string& record,
                     const World& world, const RankLimits& limits = unwatched);

// Opens a rank of a foreign world. On rank 0 the tool beside this program checks, plans and creates
// the run from `arguments` (as for `lockstep train`); the other ranks follow. Once the ranks have
// met, another rank that fails, vanishes or hangs ends this process. If this throws, `session` has
// its world and whatever was set up so far.
void open_foreign_session(const std::vector<std::string>& arguments, Session& session);

}  // namespace lockstep
