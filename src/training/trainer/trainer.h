// Declares what one rank can do with a run: train, evaluate, check the recipe, and load the model.
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
  bool resume = false;          // resume from the newest checkpoint that is not damaged
  StartUp* start_up = nullptr;  // records the time of each part of the start; may be null
  // The source of the first weights (runtime/run/checkpoint/weight_source.h), or null if init.from
  // is not used.
  nlohmann::json init{};
  bool measure_only = false;    // run steps and write their events; no evaluations or checkpoints
  bool longest_first = false;   // the longest samples come first, to measure peak memory
  bool check_contract = false;  // check the recipe's contract before the first step of a run
  // The file of an export, whose weights are read instead of the weights of a checkpoint. The path
  // is empty if a checkpoint is read. Training does not use this path.
  std::filesystem::path weights = {};
  ExpectedTimes expected = {};  // times of this run, estimated before it began
  // For a trial run, which measures times: after training has stopped, an evaluation follows that
  // may take this many seconds. 0: no evaluation follows.
  double trial_evaluation_s = 0;
};

enum class TrainEnd { finished, stopped };

// Trains until the run's last step, or until a stop on which all ranks agree. Rank 0 writes events,
// checkpoints and the run's state. Throws Error for problems that the user can solve. Any other
// exception also means that this rank failed.
TrainEnd train(const TrainerSetup& setup);

struct EvaluateRun {
  bool best = false;  // true: the best checkpoint; false: the newest that is not damaged
  // The file for the table of items. If the path is empty, the table goes into the run's folder.
  std::filesystem::path items_file = {};
  // How this evaluation differs from the evaluations during training: {"options", "other_data"}.
  // The output of an evaluation that differs gets its own folder. The value is null if nothing
  // differs.
  nlohmann::json differs = nullptr;
  // A folder to which the recipe's other tables are also written, as NAME.csv and NAME.json. The
  // tables are not written there if the path is empty.
  std::filesystem::path tables_folder = {};
};

// Evaluates a checkpoint of the run on all ranks. `skipped` gets the damaged checkpoints that were
// skipped. Returns an object with these keys on every rank:
//   - "step", "metrics": {name: value}, "units": {name: unit}
//   - "infinite", if a metric is infinite: {name: "inf" or "-inf"}
// On rank 0 the object also has these keys:
//   - "tables": the names of the recipe's other tables
//   - "items": the path of the recipe's table of items, if it was written
//   - "items_fault": why the table of items was not written to items_file
//   - "problems": the outputs that could not be written, one line each
nlohmann::json evaluate_run(const TrainerSetup& setup, const EvaluateRun& how,
                            std::vector<CheckpointInfo>& skipped);

// Checks the recipe's contract (training/contract/contract_check.h) with a freshly built model. All
// ranks call it. Returns the lists of ContractReport: {"faults", "warnings", "notes", "tried"}.
nlohmann::json check_run(const TrainerSetup& setup);

// Says which checkpoint of a run is read. By default, the newest checkpoint that is not damaged is
// read. If `best` is true, the undamaged checkpoint with the best evaluation is read, if there is
// one. If `step` is set, the checkpoint of this step is read; the caller has already checked it for
// damage.
struct WhichCheckpoint {
  bool best = false;
  std::optional<std::int64_t> step{};
};

// Builds a model on the device and loads the weights of a checkpoint or an export, for prediction
// or evaluation. The object owns the model and its parameters.
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
