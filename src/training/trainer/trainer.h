// The training loop of one rank: steps, evaluations, checkpoints, events, and the stop on which all
// ranks agree.
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
  bool resume = false;          // resume from the newest good checkpoint
  StartUp* start_up = nullptr;  // records how the time until the first step is spent; may be null
  nlohmann::json init{};        // the source of the first weights
                                // (runtime/run/checkpoint/weight_source.h), or null
  bool measure_only = false;    // steps and their events: no evaluation, no checkpoint
  bool longest_first = false;   // the longest samples come first, to measure what they need
  bool check_contract = false;  // check the recipe's contract before the first step of a run
  // For uses that only read: an export whose weights replace those of a checkpoint. Empty: none.
  std::filesystem::path weights = {};
  ExpectedTimes expected = {};  // the times of this run, estimated before it begins
  // For a trial: when training has stopped, an evaluation follows that may take this long. 0: none.
  double trial_evaluation_s = 0;
};

enum class TrainEnd { finished, stopped };

// Trains to the end or to a stop that all ranks agreed on. Rank 0 writes events, checkpoints and
// the run's state. Throws Error for problems that the user can solve. Any exception means that this
// rank failed.
TrainEnd train(const TrainerSetup& setup);

struct EvaluateRun {
  bool best = false;                      // true: the best checkpoint; false: the newest good one
  std::filesystem::path items_file = {};  // file for the table of items, in place of the run's
                                          // folder
  // How this evaluation differs from those of the training: {"options", "other_data"}. Then it gets
  // folders of its own. null: it does not differ.
  nlohmann::json differs = nullptr;
  // An additional folder for the recipe's further tables, NAME.csv and NAME.json. Empty: none.
  std::filesystem::path tables_folder = {};
};

// Evaluates a checkpoint of the run on all ranks. Returns {"step", "metrics": {name: value},
// "units": {…}, "tables": [name, …]}. "tables" lists the further tables. If rank 0 wrote the
// recipe's table of items, "items" is the path of this table. "problems" says what could not be
// written. "items_fault" says why a table that was asked for was not written. `skipped` gets the
// damaged checkpoints that were skipped.
nlohmann::json evaluate_run(const TrainerSetup& setup, const EvaluateRun& how,
                            std::vector<CheckpointInfo>& skipped);

// Checks the recipe's contract (training/contract/contract_check.h) with a fresh model. All ranks
// call it. Returns {"faults", "warnings", "notes", "tried"}, each a list of lines.
nlohmann::json check_run(const TrainerSetup& setup);

// Says which checkpoint of a run is read: the newest good one, the best, or, with `step`, one that
// the tool has already checked.
struct WhichCheckpoint {
  bool best = false;
  std::optional<std::int64_t> step{};
};

// Loads a checkpoint's weights into a fresh model on the device, for predict. Owns its parameters.
class LoadedModel {
 public:
  // On rank 0, `skipped` gets the damaged checkpoints that were skipped.
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
