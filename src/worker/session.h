// Opens the objects that a rank needs: its run, its place in the world and its device.
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
  std::filesystem::path weights = {};  // as in TrainerSetup
  // Only for a foreign world: the run to resume has finished already, so there is nothing to do.
  bool finished = false;
  // Whether torchrun, Slurm or mpirun started the ranks, instead of `lockstep`. The world is then
  // called foreign.
  bool foreign = false;

  TrainerSetup trainer(bool resume);
};

// Returns the world that the environment describes, or else a world of this process alone. Takes
// the launcher's store out of the environment, so only the first call has it.
World own_world();

// Limits for ranks that do not train. Only training ranks are watched for hangs.
inline constexpr RankLimits unwatched{.collective_s = 600};

// Opens a rank of a world that `lockstep` launched, or of a world of one rank. record: a file that
// is read instead of RUN/run.json; may be empty.
Session open_session(const std::filesystem::path& run, const std::string& record,
                     const World& world, const RankLimits& limits = unwatched);

// Opens a rank of a foreign world. session.world must be set. On rank 0, the tool in this program's
// folder checks, plans and creates the run. arguments: those of `lockstep train`. The other ranks
// use the result. After the ranks have met, this process ends if another rank fails, disappears or
// hangs. If this function throws, `session` has everything that was set up so far.
void open_foreign_session(const std::vector<std::string>& arguments, Session& session);

}  // namespace lockstep
