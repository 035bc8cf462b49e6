// What a rank needs before it can work: its run, its place in the world, its device.
#pragma once

#include "engine/process_group.h"
#include "engine/recipe.h"
#include "launch/world.h"
#include "plan/run_setup.h"
#include "run/run_dir.h"
#include "trainer/trainer.h"

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
  StartUp* start_up = nullptr;         // handed on to the trainer
  std::filesystem::path weights = {};  // TrainerSetup::weights
  bool finished = false;  // foreign: the run to resume had finished; there is nothing to do
  bool foreign = false;   // the world was made by torchrun, Slurm or mpirun, not by `lockstep`

  TrainerSetup trainer(bool resume);
};

// The world that the environment describes, or one of this process alone. Takes the launcher's
// store out of the environment: the first call alone has it.
World own_world();

// Of ranks that nobody watches for hangs: all but those that train.
inline constexpr RankLimits unwatched{.collective_s = 600};

// A rank of a world that `lockstep` launched, or a world of one. record: a file that stands in for
// RUN/run.json, or empty.
Session open_session(const std::filesystem::path& run, const std::string& record,
                     const World& world, const RankLimits& limits = unwatched);

// A rank of a world that somebody else made. Rank 0 lets the tool beside this program check, plan
// and create the run from `arguments` (as for `lockstep train`); the others follow. From the moment
// the ranks have met, another one that fails, vanishes or hangs ends this process. `session` has
// its world, and is as far as it got when this throws.
void open_foreign_session(const std::vector<std::string>& arguments, Session& session);

}  // namespace lockstep
