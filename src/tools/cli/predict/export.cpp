// Implements `lockstep export`. It writes a run's model as one file, or its log for other tools.
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "planning/recipe_info.h"
#include "runtime/launch/launch.h"
#include "runtime/run/checkpoint/export_file.h"
#include "runtime/run/events/json_lines.h"
#include "tools/cli/commands.h"
#include "tools/cli/compare/run_source.h"
#include "tools/cli/context.h"
#include "tools/cli/output.h"
#include "tools/cli/predict/export_numbers.h"
#include "tools/cli/run_root.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include <cctype>

namespace lockstep::cli {
namespace fs = std::filesystem;

namespace {

CheckpointInfo chosen_checkpoint(const RunDir& run, bool best) {
  std::vector<CheckpointInfo> damaged;
  std::optional<CheckpointInfo> found;
  if (best) found = best_good(run.checkpoints(), damaged);
  if (best && !found) say(no_best_note(damaged));
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
                cat("see: lockstep runs ", shell_word(run.name())));
  return *found;
}

// Whether the value is a path. Paths in records are absolute. "@FILE" stands for the lines of a
// file.
bool is_path(const nlohmann::json& value) {
  if (value.is_array()) return std::any_of(value.begin(), value.end(), is_path);
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return text.starts_with('/') || text.starts_with("@/");
}

// The members that setup_from_json reads, without facts about the host or the user. Path options
// get their defaults, and so do tags, notes and the options of `--then predict`.
nlohmann::json exported_record(const nlohmann::json& whole) {
  nlohmann::json record{{"lockstep", version()}};
  for (const char* key : {"recipe", "plugin", "facts", "extra", "plan"})
    if (whole.contains(key)) record[key] = whole[key];
  record["plugin"] = fs::path(text_or(whole, "plugin", "")).filename().string();
  record["config"] = nlohmann::json::object();
  for (const auto& [key, value] : whole.at("config").get_ref<const nlohmann::json::object_t&>())
    if (!is_path(value) && key != input_key && key != out_key && key != "run.tags" &&
        key != "run.note")
      record["config"][key] = value;
  nlohmann::json& plan = record.at("plan");
  for (const char* key : {"init_from", "notes"}) plan.erase(key);
  for (nlohmann::json& device : plan.at("devices")) device["uuid"] = "";
  return record;
}

// The options of a built-in recipe. Options of a plugin are not available, so the result is empty
// for them.
std::unique_ptr<RecipeOptions> options_of(const std::string& recipe) {
  for (const RecipeInfo& info : recipes())
    if (info.name == recipe) return info.make_options();
  return std::make_unique<RecipeOptions>();
}

bool is_average(const nlohmann::json& record, const CheckpointInfo& checkpoint) {
  std::error_code ignored;
  if (!fs::exists(checkpoint.path / "ema.safetensors", ignored)) return false;
  const nlohmann::json config = record.value("config", nlohmann::json::object());
  return !config.is_object() || config.value("ema.evaluate", nlohmann::json(true)) != false;
}

void say_written(const fs::path& out, const CheckpointInfo& checkpoint, bool average,
                 const std::string& more) {
  say(cat("wrote ", printable(out.string()), ": ", more,
          format_bytes(static_cast<double>(fs::file_size(out))), ", step ", checkpoint.step,
          average ? ", averaged weights" : ""));
}

Exported make_exported(const RunDir& run, const nlohmann::json& record,
                       const CheckpointInfo& checkpoint, bool average) {
  try {
    Exported exported{.record = exported_record(record),
                      .step = checkpoint.step,
                      .average = average,
                      .files = kept_files(run.path() / "recipe",
                                          record.value("kept", std::vector<std::string>()))};
    options_of(text_or(record, "recipe", ""))
        ->forget_places(exported.record["extra"], exported.files);
    return exported;
  } catch (const nlohmann::json::exception& error) {
    throw Error(cat((run.path() / "run.json").string(),
                    " is damaged or of another version: ", error.what()),
                "--rename writes the weights alone, whatever the record holds");
  }
}

// Throws Error if the name has the extension of another file format.
void check_form(const fs::path& out) {
  std::string end = out.extension().string();
  for (char& c : end) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* suffix : {".pt", ".pth", ".bin", ".ckpt", ".pkl", ".onnx", ".h5"})
    if (end == suffix)
      throw Error(
          cat("lockstep export writes a safetensors file, but ", printable(out.string()),
              " is a name for one of another form"),
          cat("write --out ", shell_word(fs::path(out).replace_extension(".safetensors").string()),
              "; in Python, safetensors.torch.load_file reads it, and torch.save of what that "
              "returns writes a file for torch.load"));
}

int export_main(const Parsed& parsed) {
  if (asks_for_numbers(parsed)) {
    export_numbers(parsed);
    return exit_finished;
  }
  if (!parsed.has("--out"))
    throw Error(
        "lockstep export needs --out FILE",
        "for example: lockstep export RUN --out model.safetensors; or, for what was logged, "
        "--tensorboard DIR, --csv DIR or --mlflow DIR");
  const fs::path out = parsed.value("--out");
  check_form(out);
  check_new_file(out, may_overwrite(parsed));
  const RunDir run = operand_run(parsed);
  const CheckpointInfo checkpoint = chosen_checkpoint(run, parsed.has("--best"));
  const nlohmann::json record = run.record();
  const bool average = is_average(record, checkpoint);
  if (parsed.has("--rename")) {
    const std::vector<NamePair> names = name_map(split(parsed.value("--rename"), ','), "--rename");
    const std::size_t count = write_renamed(out, checkpoint, average, names);
    say_written(out, checkpoint, average, cat(count, " tensors, "));
    return exit_finished;
  }
  const Exported exported = make_exported(run, record, checkpoint, average);
  write_export(out, checkpoint, exported);
  say_written(out, checkpoint, average, "");
  return exit_finished;
}

}  // namespace

Command export_command() {
  std::vector<Flag> flags{
      {"--out", "FILE", "the file to write", "file"},
      {"--best", "", "the best checkpoint instead of the newest"},
      {"--rename", "PAIRS",
       "for other programs: only these tensors, under new names, as 'trunk.*=*'"},
      overwrite_flag()};
  for (Flag& flag : number_flags()) flags.push_back(std::move(flag));
  return {.name = "export",
          .operands = "RUN --out FILE|--tensorboard DIR|--csv DIR|--mlflow DIR",
          .summary = "write a run's model as one file, or its logged numbers for other tools",
          .details =
              std::string("With --out a safetensors file, which evaluate and predict read like a "
                          "run: weights, or their average where the run evaluates "
                          "with it, frozen parameters and buffers under the model's own names, and "
                          "in its metadata the options and what the recipe keeps, with a "
                          "checksum.\n") +
              run_operand_help,
          .flags = std::move(flags),
          .min_positionals = 1,
          .max_positionals = 1,
          .takes_assignments = true,
          .only_options = {"run.root"},
          .complete = "run",
          .run = export_main,
          .tried_flags = {tried_root(),
                          {"--format",
                           "--out FILE.safetensors writes the model; --tensorboard, "
                           "--csv and --mlflow write what the run logged"}}};
}

}  // namespace lockstep::cli
