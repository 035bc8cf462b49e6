// Opens the objects that a rank needs, such as its run, its process group and its device. The world
// is the group of all ranks (runtime/launch/world/world.h).
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
  StartUp* start_up = nullptr;         // the stopwatch for the trainer; may be null
  std::filesystem::path weights = {};  // TrainerSetup::weights
  // Only if `foreign` is true: the run to resume has finished already, so there is nothing to do.
  bool finished = false;
  // Whether the world is foreign, which means that torchrun, Slurm or mpirun started the ranks
  // instead of `lockstep`.
  bool foreign = false;

  TrainerSetup trainer(bool resume);
};

// Returns the world that the environment variables describe. Without such variables, the world has
// only this process. Removes the variable of the launcher's store, so only the first call returns
// its socket.
World own_world();

// Limits for ranks that evaluate or predict. They are not watched for hangs, unlike ranks that
// train.
inline constexpr RankLimits unwatched{.collective_s = 600};

// Opens the session of a rank that `lockstep` launched, or of a single process. record: a file that
// is read instead of RUN/run.json; may be empty.
Session open_session(const std::filesystem::path& run, const std::string& record,
                     const World& world, const RankLimits& limits = unwatched);

// Opens the session of a rank in a foreign world. session.world must be set. arguments: those of
// `lockstep train`. Rank 0 runs the tool (`lockstep`) in this program's folder, which checks, plans
// and creates the run. The other ranks open this run. After the ranks have connected to each other,
// this process ends if another rank fails, disappears or hangs. If this function throws, `session`
// has the objects that were opened before.
void open_foreign_session(const std::vector<std::string>& arguments, Session& session);

}  // namespace lockstep
