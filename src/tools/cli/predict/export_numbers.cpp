#include "tools/cli/predict/export_numbers.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/cli/batch/batch.h"
#include "tools/cli/context.h"
#include "tools/cli/output.h"
#include "tools/cli/run_root.h"
#include "tools/report/exports/run_exports.h"
#include "tools/report/trackers/mlflow_files.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

void refuse_parquet(const Parsed& parsed) {
  const std::string folder = parsed.value("--parquet");
  throw Error(
      "Parquet cannot be written: Debian has no library for it that this program could be built "
      "with",
      cat("write CSV and convert it, which takes one line of Python with pandas:\n  lockstep "
          "export ",
          shell_word(parsed.positionals.at(0)), " --csv ", shell_word(folder),
          "\n  python3 -c \"import pandas; "
          "pandas.read_csv('",
          folder, "/steps.csv').to_parquet('", folder, "/steps.parquet')\""));
}

// Checks the folder of an export, which must be new or empty. With --force, any folder is accepted,
// and files with the same names are replaced.
void check_export_folder(const fs::path& folder, bool overwrite) {
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored))
    throw Error(cat(folder.string(), " is no folder"), "name another one");
  if (!overwrite && fs::exists(folder, ignored) && !fs::is_empty(folder, ignored))
    throw Error(cat("there are files in ", folder.string(), " already"),
                "name a new folder, or write beside them with --force");
}

void tell_export(const WrittenExport& written, const fs::path& folder) {
  if (written.left_out > 0)
    say(cat("warning: there are more names than there is room for: ", written.left_out,
            written.left_out == 1 ? " is" : " are", " left out in ", folder.string()));
  if (written.runs > 0) {
    say(cat("wrote ", (folder / written.what).string(), ": ", written.runs,
            written.runs == 1 ? " job" : " jobs"));
    return;
  }
  if (written.steps + written.evaluations == 0) {
    const std::string what =
        written.what.empty() ? "nothing was" : cat((folder / written.what).string(), " was");
    say(cat("the run has no logged steps and no evaluations yet: ", what, " written"));
    return;
  }
  say(cat("wrote ", printable((folder / written.what).string()), ": ", written.steps,
          " logged steps, ", written.evaluations,
          written.evaluations == 1 ? " evaluation" : " evaluations"));
}

// MLflow 3.x reports this only when a user's own program ends.
void tell_how_mlflow_reads(const fs::path& folder) {
  say(
      cat("newer MLflow reads such a folder with MLFLOW_ALLOW_FILE_STORE=true, or as a database: "
          "mlflow migrate-filestore --source ",
          shell_word(folder.string()), " --target sqlite:///mlflow.db"));
}

bool names_a_batch(const Parsed& parsed) {
  std::error_code ignored;
  const std::string& name = parsed.positionals.at(0);
  const fs::path named = fs::path(run_root(parsed)) / name;
  if (fs::exists(named / "run.json", ignored)) return false;
  return fs::exists(BatchFolder{named}.record(), ignored) ||
         fs::exists(BatchFolder{name}.record(), ignored);
}

void export_batch(const Parsed& parsed, bool overwrite) {
  for (const char* flag : {"--tensorboard", "--csv"})
    if (parsed.has(flag))
      throw Error(
          cat(flag, " is about a run, but ", printable(parsed.positionals.at(0)), " is a batch"),
          "lockstep report BATCH has a table of its jobs");
  const std::string folder = parsed.value("--mlflow");
  const bool is_new = !is_mlflow_store(folder);
  tell_export(export_mlflow(open_batch(parsed, parsed.positionals.at(0)), folder, overwrite),
              folder);
  if (is_new) tell_how_mlflow_reads(folder);
}

}  // namespace

std::vector<Flag> number_flags() {
  return {{"--tensorboard", "DIR", "instead of the model: logged numbers, for TensorBoard", "file"},
          {"--csv", "DIR",
           "instead of the model: logged numbers as steps.csv, evaluations.csv and "
           "starts.csv",
           "file"},
          {"--mlflow", "DIR",
           "instead of the model: logged numbers as a run in MLflow's folder of runs (mlruns); for "
           "a batch, its jobs",
           "file"},
          {"--parquet", "DIR", "cannot be written; says how to make it of CSV", "file", true}};
}

bool asks_for_numbers(const Parsed& parsed) {
  const std::vector<Flag> flags = number_flags();
  return std::any_of(flags.begin(), flags.end(),
                     [&](const Flag& flag) { return parsed.has(flag.name); });
}

void export_numbers(const Parsed& parsed) {
  if (parsed.has("--parquet")) refuse_parquet(parsed);
  for (const char* flag : {"--out", "--best", "--rename"})
    if (parsed.has(flag))
      throw Error(cat(flag,
                      " is about the model, which is not written with --tensorboard, --csv or "
                      "--mlflow"),
                  "write it with a command of its own");
  const bool overwrite = may_overwrite(parsed);
  for (const char* flag : {"--tensorboard", "--csv"})
    if (parsed.has(flag)) check_export_folder(parsed.value(flag), overwrite);
  if (parsed.has("--mlflow") && names_a_batch(parsed)) {
    export_batch(parsed, overwrite);
    return;
  }
  const RunDir run = operand_run(parsed);
  if (parsed.has("--tensorboard"))
    tell_export(export_tensorboard(run, parsed.value("--tensorboard")),
                parsed.value("--tensorboard"));
  if (parsed.has("--csv"))
    tell_export(export_csv(run, parsed.value("--csv")), parsed.value("--csv"));
  if (!parsed.has("--mlflow")) return;
  const std::string folder = parsed.value("--mlflow");
  const bool is_new = !is_mlflow_store(folder);
  tell_export(export_mlflow(run, folder, overwrite), folder);
  if (is_new) tell_how_mlflow_reads(folder);
}

}  // namespace lockstep::cli
