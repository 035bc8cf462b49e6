// The objects that a rank needs: its run, its place in the world, its device.
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
  bool finished = false;  // if foreign: the run to resume had finished, so there is nothing to do
  bool foreign = false;   // the world was made by torchrun, Slurm or mpirun, not by `lockstep`

  TrainerSetup trainer(bool resume);
};

// Returns the world that the environment describes, or a world of this process alone. Removes the
// launcher's store from the environment, so only the first call returns it.
World own_world();

// Limits for ranks that are not watched for hangs. Only training ranks are watched.
inline constexpr RankLimits unwatched{.collective_s = 600};

// Opens a rank of a world that `lockstep` launched, or of a world of one rank. record: a file that
// replaces RUN/run.json, or empty.
Session open_session(const std::filesystem::path& run, const std::string& record,
                     const World& world, const RankLimits& limits = unwatched);

// Opens a rank of a foreign world. On rank 0 the tool in this program's folder checks, plans and
// creates the run from `arguments` (as for `lockstep train`). The other ranks use the result. After
// the ranks have met, this process ends if another rank fails, vanishes or hangs. If this function
// throws, `session` has its world and everything that was set up so far.
void open_foreign_session(const std::vector<std::string>& arguments, Session& session);

}  // namespace lockstep
