// The training loop of one rank: steps, evaluations, checkpoints, events, and stopping together.
#pragma once

#include "backends/backend.h"
#include "core/base/clock.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/events/start_up.h"
#include "runtime/run/folder/run_dir.h"
#include "runtime/run/progress/part_times.h"
#include "training/distributed/process_group.h"
#include "training/recipe/recipe.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct TrainerSetup {
  const TrainOptions& options;
  const Plan& plan;
  Recipe& recipe;
  ProcessGroup& group;
  Backend& backend;
  RunDir& run;
  Clock& clock;
  bool resume = false;          // from the newest good checkpoint
  StartUp* start_up = nullptr;  // notes where the time until the first step goes; may be null
  nlohmann::json init{};        // where the first weights come from
                                // (runtime/run/checkpoint/weight_source.h); or null
  bool measure_only = false;    // steps and their events: no evaluation, no checkpoint
  bool longest_first = false;   // the longest samples come first: what do they take?
  bool check_contract = false;  // of the recipe, before the first step of a run
  // For what only reads: an export whose weights stand for a checkpoint's; empty: there is none.
  std::filesystem::path weights = {};
  ExpectedTimes expected = {};  // of this run, before it begins
  // A trial: where training stopped, an evaluation that may take so long follows; 0: none.
  double trial_evaluation_s = 0;
};

enum class TrainEnd { finished, stopped };

// Trains to the end or to a stop that all ranks agreed on. Rank 0 writes events, checkpoints and
// the run's state. Throws Error on what the user can mend; any exception means that this rank
// failed.
TrainEnd train(const TrainerSetup& setup);

struct EvaluateRun {
  bool best = false;                      // the best checkpoint, not the newest good one
  std::filesystem::path items_file = {};  // for the table of items, in place of the run's folder
  // In what this evaluation differs from those of the training: {"options", "other_data"}; it has
  // folders of its own then. null: in nothing.
  nlohmann::json differs = nullptr;
  // A folder for the recipe's further tables, NAME.csv and NAME.json, wherever they go besides;
  // empty: none.
  std::filesystem::path tables_folder = {};
};

// Evaluates a checkpoint of the run on all ranks and returns {"step", "metrics": {name: value},
// "units": {…}, "tables": [name, …]}, the last of the further tables, with "items" where rank 0
// wrote the recipe's table of items. "problems" says what could not be written. "items_fault" says
// why a table that was asked for was not written. skipped gets the damaged checkpoints that were
// skipped.
nlohmann::json evaluate_run(const TrainerSetup& setup, const EvaluateRun& how,
                            std::vector<CheckpointInfo>& skipped);

// Tries the recipe's contract (training/contract/contract_check.h) with a fresh model. All ranks;
// returns
// {"faults", "warnings", "notes", "tried"}, a list of lines each.
nlohmann::json check_run(const TrainerSetup& setup);

// The checkpoint of a run that is read: the newest good one, the best, or one that the tool has
// checked.
struct WhichCheckpoint {
  bool best = false;
  std::optional<std::int64_t> step{};
};

// Loads a checkpoint's weights into a fresh model on the device, for predict. Owns its parameters.
class LoadedModel {
 public:
  // skipped gets the damaged checkpoints passed over, on rank 0.
  LoadedModel(const TrainerSetup& setup, const WhichCheckpoint& which,
              std::vector<CheckpointInfo>& skipped);
  ~LoadedModel();
  Model& model();
  std::int64_t step() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
