// Exports a run's numbers for other tools. Events that resumes took back are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "runtime/run/folder/run_dir.h"
#include "tools/jobs/files/batch_folder.h"

namespace lockstep {

struct WrittenExport {
  std::int64_t steps = 0, evaluations = 0;
  std::int64_t runs = 0;     // for a batch
  std::string what{};        // the files: "steps.csv, evaluations.csv and starts.csv"
  std::size_t left_out = 0;  // numbers of names beyond the limit
};

// Writes one event file in `folder`, with the original times and steps. SessionLog START marks each
// start, and STOP the end of the last one. Throws Error.
WrittenExport export_tensorboard(const RunDir& run, const std::filesystem::path& folder);

// Writes folder/steps.csv and folder/evaluations.csv (RFC 4180): a header, then a line per event. A
// cell is empty if the event lacks the number or it was not finite. folder/starts.csv has a line
// per start, with the step that it began after. Throws Error.
WrittenExport export_csv(const RunDir& run, const std::filesystem::path& folder);

// Writes the run into MLflow's file store (mlruns), in the experiment named after its recipe. A run
// always has the same id, so a further export with `replace` replaces it. Throws Error if the run
// exists and `replace` is not set, and if MLflow would not read a file store there
// (check_mlflow_folder).
WrittenExport export_mlflow(const RunDir& run, const std::filesystem::path& folder, bool replace);

// The same for each finished job of a batch, in the experiment named after the batch.
WrittenExport export_mlflow(const BatchFolder& batch, const std::filesystem::path& folder,
                            bool replace);

}  // namespace lockstep
