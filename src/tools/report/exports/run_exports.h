// Exports a run's numbers for other tools. Events that a later resume discarded are left out.
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
  std::int64_t runs = 0;  // number of exported jobs of a batch
  std::string what{};     // what was written, such as "steps.csv, evaluations.csv and starts.csv"
  // number of columns or metrics that were left out, because there were too many
  std::size_t left_out = 0;
};

// Writes one TensorBoard event file in `folder`, with the original times and steps. A SessionLog
// START marks each start, and a STOP marks the end of the last start. Throws Error if the events
// cannot be read or the file cannot be written.
WrittenExport export_tensorboard(const RunDir& run, const std::filesystem::path& folder);

// Writes steps.csv and evaluations.csv in `folder`, as in RFC 4180: a header, then a line per
// event. A cell is empty if the event lacks the number, or if the number is not finite. starts.csv
// has a line per start, with the step after which it began. Throws Error if the events cannot be
// read or a file cannot be written.
WrittenExport export_csv(const RunDir& run, const std::filesystem::path& folder);

// Writes the run into MLflow's file store (mlruns), in the experiment named after its recipe. A run
// always has the same id, so another export with `replace` replaces it. Throws Error if the run
// exists and `replace` is false. Also throws Error if MLflow would not read a file store there
// (check_mlflow_folder).
WrittenExport export_mlflow(const RunDir& run, const std::filesystem::path& folder, bool replace);

// Writes each finished job of a batch in the same way, in the experiment named after the batch.
WrittenExport export_mlflow(const BatchFolder& batch, const std::filesystem::path& folder,
                            bool replace);

}  // namespace lockstep
