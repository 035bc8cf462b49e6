// A run's numbers for other tools: events that count, without what resumes took back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "jobs/batch_folder.h"
#include "run/run_dir.h"

namespace lockstep {

struct WrittenExport {
  std::int64_t steps = 0, evaluations = 0;
  std::int64_t runs = 0;     // of a batch
  std::string what{};        // of files: "steps.csv, evaluations.csv and starts.csv"
  std::size_t left_out = 0;  // numbers of other names than there is room for
};

// One event file in `folder`, with times and steps as they were: SessionLog START where each start
// began, and STOP where the last one ended. Throws Error.
WrittenExport export_tensorboard(const RunDir& run, const std::filesystem::path& folder);

// folder/steps.csv and folder/evaluations.csv, RFC 4180: a line of names, then one per event; a
// cell is empty where the event does not have the number, or it was not finite. folder/starts.csv:
// one per start, with the step that it began behind. Throws Error.
WrittenExport export_csv(const RunDir& run, const std::filesystem::path& folder);

// The run in MLflow's file store (mlruns), in the experiment named after its recipe. The same run
// has the same id each time, and is replaced. Throws Error: where that run is there already and
// `replace` is not set; where MLflow would not read a file store there (check_mlflow_folder).
WrittenExport export_mlflow(const RunDir& run, const std::filesystem::path& folder, bool replace);

// Likewise each job of a batch that is over, in the experiment named after the batch.
WrittenExport export_mlflow(const BatchFolder& batch, const std::filesystem::path& folder,
                            bool replace);

}  // namespace lockstep
