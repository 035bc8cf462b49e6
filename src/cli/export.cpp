// lockstep export: a run's model as one file.
#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/run_root.h"
#include "launch/launch.h"
#include "run/export_file.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace lockstep::cli {
namespace fs = std::filesystem;

namespace {

CheckpointInfo chosen_checkpoint(const RunDir& run, bool best) {
  std::vector<CheckpointInfo> damaged;
  std::optional<CheckpointInfo> found;
  if (best) found = best_good(run.checkpoints(), damaged);
  if (best && !found)
    say("no checkpoint of the run was evaluated: taking the newest in place of the best");
  damaged.clear();
  if (!found)
    found =
        newest_good(run.checkpoints(), [&](const CheckpointInfo& bad) { damaged.push_back(bad); });
  for (const CheckpointInfo& bad : damaged)
    say(cat("warning: passed over a damaged checkpoint: ", bad.path.filename().string(), ": ",
            bad.damage));
  if (!found)
    throw Error(cat("run ", run.name(),
                    damaged.empty() ? " has no checkpoint yet" : " has damaged checkpoints only"),
                cat("see: lockstep runs ", run.name()));
  return *found;
}

// What setup_from_json reads: nothing of the host or the user.
nlohmann::json record_of(const RunDir& run) {
  const nlohmann::json whole = run.record();
  nlohmann::json record{{"lockstep", version()}};
  for (const char* key : {"recipe", "plugin", "config", "facts", "extra", "plan"})
    if (whole.contains(key)) record[key] = whole[key];
  return record;
}

void check_new_file(const fs::path& out, bool force) {
  std::error_code ignored;
  if (fs::is_directory(out, ignored))
    throw Error(cat(out.string(), " is a folder"), "name a file in it");
  if (!fs::exists(fs::symlink_status(out, ignored))) return;
  if (!force)
    throw Error(cat(out.string(), " is there already"),
                "name another file, or overwrite it with --force");
  if (!fs::is_regular_file(out, ignored))
    throw Error(cat(out.string(), " is no file"), "name another one");
}

int export_main(const Parsed& parsed) {
  if (!parsed.has("--out"))
    throw Error("lockstep export needs --out FILE",
                "for example: lockstep export RUN --out model.safetensors");
  const fs::path out = parsed.value("--out");
  check_new_file(out, may_overwrite(parsed));
  const RunDir run = operand_run(parsed);
  const CheckpointInfo checkpoint = chosen_checkpoint(run, parsed.has("--best"));
  Exported exported{.record = record_of(run),
                    .step = checkpoint.step,
                    .files = kept_files(run.path() / "recipe")};
  std::error_code ignored;
  const nlohmann::json& config = exported.record["config"];
  exported.average = config.is_object() && config.value("ema.evaluate", true) &&
                     fs::exists(checkpoint.path / "ema.safetensors", ignored);
  write_export(out, checkpoint, exported);
  say(cat("wrote ", out.string(), ": ", format_bytes(static_cast<double>(fs::file_size(out))),
          ", step ", checkpoint.step, exported.average ? ", averaged weights" : ""));
  return exit_finished;
}

}  // namespace

Command export_command() {
  return {.name = "export",
          .operands = "RUN --out FILE",
          .summary = "write a run's model as one file, which evaluate and predict read like a run",
          .details =
              std::string("A safetensors file: weights, or their average where the run evaluates "
                          "with it, frozen parameters and buffers under the model's own names, and "
                          "in its metadata the options and what the recipe keeps, with a "
                          "checksum.\n") +
              run_operand_help,
          .flags = {{"--out", "FILE", "the file to write", "file"},
                    {"--best", "", "the best checkpoint instead of the newest"},
                    overwrite_flag()},
          .min_positionals = 1,
          .max_positionals = 1,
          .takes_assignments = true,
          .only_options = {"run.root"},
          .complete = "run",
          .run = export_main,
          .tried_flags = {tried_root()}};
}

}  // namespace lockstep::cli
