// Implements `lockstep evaluate`. It computes a run's validation metrics on any devices.
#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/events/events.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/progress/progress_text.h"
#include "tools/cli/commands.h"
#include "tools/cli/compare/run_source.h"
#include "tools/cli/context.h"
#include "tools/cli/direct.h"
#include "tools/cli/output.h"
#include "tools/cli/plan/resolve.h"
#include "tools/cli/predict/training_options.h"
#include "tools/cli/ranks.h"
#include "tools/cli/run_end.h"
#include "tools/cli/run_root.h"
#include "tools/cli/train/last_evaluation.h"
#include "tools/cli/train/train.h"

#include <optional>
#include <utility>

namespace lockstep::cli {
namespace {

std::string table(const nlohmann::json& result) {
  std::string text = cat("step ", result.at("step").get<std::int64_t>(), "\n");
  const nlohmann::json metrics = metrics_to_show(result);
  for (const auto& [name, unit] : result.at("units").items()) {
    const nlohmann::json& value = metrics.at(name);
    const std::string number = value.is_number()   ? general(value.get<double>(), 6)
                               : value.is_string() ? value.get<std::string>()
                                                   : "nan";
    const std::string words = unit.get<std::string>();
    text += cat("  ", pad_cells(name + " ", 24), number, words.empty() ? "" : " ", words, "\n");
  }
  return text;
}

// The recipe's further tables in `folder`, one after the other.
std::string tables_text(const nlohmann::json& names, const std::filesystem::path& folder) {
  std::string text;
  for (const std::string name : names) try {
      text += named_table_text(name, read_csv(folder / (name + ".csv")));
    } catch (const Error& error) {
      say(cat("warning: the table ", name, " cannot be shown: ", error.what()));
    }
  return text;
}

// The same tables for programs: {name: [{column: value}, …]}.
nlohmann::json tables_json(const nlohmann::json& names, const std::filesystem::path& folder) {
  nlohmann::json tables = nlohmann::json::object();
  for (const std::string name : names)
    tables[name] = nlohmann::json::parse(read_file(folder / (name + ".json"), data_bytes));
  return tables;
}

// Reports the result of the table of items. Returns the exit code.
int tell_items(nlohmann::json& result) {
  for (const nlohmann::json& problem : result.value("problems", nlohmann::json::array()))
    say(cat("warning: ", problem.get<std::string>()));
  if (!result.value("problems", nlohmann::json::array()).empty())
    say("(--items FILE puts the table of items elsewhere)");
  const std::string fault = result.value("items_fault", "");
  if (!fault.empty()) say(cat("error: there is no table of items: ", fault));
  if (result.contains("items")) say(cat("items: ", result["items"].get<std::string>()));
  result.erase("problems");
  result.erase("items_fault");
  return fault.empty() ? exit_finished : exit_failed;
}

// The newest evaluation in the run's events, if it used the weights of the newest checkpoint.
std::optional<nlohmann::json> last_evaluation(const RunDir& run) {
  const std::vector<CheckpointInfo> checkpoints = list_checkpoints(run.checkpoints(), false);
  const std::vector<nlohmann::json> events = effective_events(read_events(run.events_path()));
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    if (text_or(*event, "kind", "") != "eval") continue;
    const bool newest =
        !checkpoints.empty() && checkpoints.back().step == integer_or(*event, "step", -1);
    return newest && event->contains("units") ? std::optional(*event) : std::nullopt;
  }
  return std::nullopt;
}

void check_items_file(const std::filesystem::path& file, bool overwrite) {
  if (file.extension() != ".csv" && file.extension() != ".json")
    throw Error(
        cat("--items must name a file that ends in .csv or .json, but names ", file.string()),
        cat("for example: --items ", file.stem().string(), ".csv"));
  check_new_file(file, overwrite);
}

// Compares two values. Paths to prepared data are equal if their last two parts, KEY/FILE, are
// equal. The key identifies the contents, and the cache may be anywhere.
bool is_same(const nlohmann::json& before, const nlohmann::json& now) {
  if (before == now || !before.is_string() || !now.is_string()) return before == now;
  const std::filesystem::path one = before.get<std::string>(), other = now.get<std::string>();
  return one.is_absolute() && other.is_absolute() && one.filename() == other.filename() &&
         one.parent_path().filename() == other.parent_path().filename();
}

// Whether preparation found other data than the run used.
bool has_other_data(const nlohmann::json& record, const Prepared& prepared) {
  if (record.at("facts").value("valid_samples", std::int64_t{0}) != prepared.facts.valid_samples)
    return true;
  const nlohmann::json& before = record.at("extra");
  for (const auto& [key, value] : prepared.extra.items())
    if (before.contains(key) && !is_same(before[key], value)) return true;
  return false;
}

// How this evaluation differs from those during training, as in EvaluateRun.
nlohmann::json difference(const RunDir& run, const RunSetup& setup) {
  nlohmann::json options = nlohmann::json::object();
  for (const OptionTable* table : setup.tables())
    for (const std::string& key : table->keys())
      if (key != "run.root" && key != "run.cache" && is_asked_for(*table, key))
        options[key] = table->get(key);
  const nlohmann::json record = run.record();
  if (setup.plugin != text_or(record, "plugin", "")) options["plugin"] = setup.plugin;
  const bool other_data = has_other_data(record, setup.prepared);
  if (options.empty() && !other_data) return nullptr;
  return {{"options", options}, {"other_data", other_data}};
}

// An export does not record where the data is. Without a data path, a recipe would use its own
// synthetic or bundled data instead of the run's.
void check_data_is_named(const RunSource& source, const RunSetup& setup) {
  if (source.weights.empty()) return;
  const nlohmann::json record = source.run.record();
  bool is_left_out = false, is_named = false;
  for (const OptionInfo& option : setup.options->table.options()) {
    if (!option.spec.is_path || !option.key.starts_with("data.")) continue;
    is_left_out |= option.key == "data.path" && !record.at("config").contains(option.key);
    is_named |= is_asked_for(setup.options->table, option.key);
  }
  if (is_left_out && !is_named)
    throw Error("the run was trained on data of its own, but an export does not say where they lie",
                "name the data to evaluate on: data.path=PATH");
}

int evaluate_main(const Parsed& parsed) {
  if (const std::optional<int> code = use_direct(parsed, false)) return *code;
  if (parsed.has("--items")) check_items_file(parsed.value("--items"), may_overwrite(parsed));
  const RunSource source = operand_source(parsed);
  RunSetup setup = resolve_resume(source.run, parsed.all("--config"), parsed.assignments,
                                  parsed.value("--plugin"), {.groups = {"evaluate"}});
  check_no_training_options(source.run, setup, parsed.assignments, "evaluate");
  check_data_is_named(source, setup);
  return evaluate(source.run, std::move(setup), devices_for(parsed.value("--devices")),
                  {.best = parsed.has("--best"),
                   .json = parsed.has("--json"),
                   .items = parsed.value("--items"),
                   .weights = source.weights,
                   .outputs = source.outputs});
}

}  // namespace

bool print_last_evaluation(const RunDir& run) {
  const std::optional<nlohmann::json> event = last_evaluation(run);
  if (!event) return false;
  print(table(*event) + step_tables_text(run.path(), integer_or(*event, "step", 0)));
  return true;
}

int evaluate(const RunDir& run, RunSetup setup, const std::vector<Device>& devices,
             const ReadOptions& reading) {
  // an export has no folder for kept predictions
  if (!reading.weights.empty()) setup.train->eval.keep = 0;
  prepare(setup, Purpose::evaluate, devices, run.path());
  setup.plan.devices = devices;
  setup.plan.batch.world_size = static_cast<std::int64_t>(devices.size());
  const TemporaryDirectory folder;
  const std::filesystem::path record = folder.path() / "record.json";
  write_file_atomic(record, setup_to_json(setup).dump());
  const std::filesystem::path tables = folder.path() / "tables";
  std::filesystem::create_directory(tables);
  std::vector<std::string> arguments{
      "evaluate", "--run", std::filesystem::absolute(run.path()).string(), "--record", record,
      "--tables", tables};
  if (reading.best) arguments.push_back("--best");
  if (!reading.weights.empty())
    arguments.insert(arguments.end(), {"--weights", reading.weights.string()});
  if (const nlohmann::json differs = difference(run, setup); differs.is_object())
    arguments.insert(arguments.end(), {"--differs", to_line(differs)});
  if (!reading.items.empty())
    arguments.insert(arguments.end(),
                     {"--items", std::filesystem::absolute(reading.items).string()});
  std::optional<nlohmann::json> result;
  const LaunchOutcome outcome = run_ranks({.arguments = arguments,
                                           .devices = devices,
                                           .log_dir = folder.path(),
                                           .on_event = [&](const nlohmann::json& event) {
                                             if (event.value("kind", "") == "evaluated")
                                               result = event;
                                           }});
  if (const int failed = report_reading(outcome); failed != exit_finished) return failed;
  LOCKSTEP_CHECK(result);
  result->erase("kind");
  const int code = tell_items(*result);
  const nlohmann::json names = result->at("tables");
  if (reading.json) (*result)["tables"] = tables_json(names, tables);
  print(reading.json ? json_text(*result) : table(*result) + tables_text(names, tables));
  return code;
}

Command evaluate_command() {
  return {
      .name = "evaluate",
      .operands = "RUN [key=value …]",
      .summary = "validation metrics of a run's newest good checkpoint, or of an export",
      .details =
          std::string(
              "Options that may change when a run resumes, such as the place of its data, may be "
              "given again. A bare KEY means evaluate.KEY where the recipe has that.\n"
              "If the recipe makes a table with a row per item, it goes to "
              "RUN/evaluations/step-N/, and with changed options or other data to a separate "
              "folder beside it; a run that cannot be written to, or an export, is evaluated "
              "without the table. Further tables of the recipe go there too, and up to 300 rows "
              "are shown.\n") +
          source_operand_help,
      .flags = {{"--devices", "LIST", "all, cpu, cpu:4, 0,1 or UUIDs (default all)", "devices"},
                {"--best", "", "the best checkpoint instead of the newest"},
                {"--items", "FILE",
                 "write the table of items to FILE.csv or FILE.json, and nothing into the run",
                 "file"},
                overwrite_flag(),
                {"--config", "FILE",
                 "TOML or .json file of options; later files overlay earlier ones", "file"},
                {"--plugin", "LIB", "the recipe's library, in place of the one in the record",
                 "file"},
                {"--json", "", "as JSON"}},
      .min_positionals = 1,
      .max_positionals = 1,
      .takes_assignments = true,
      .complete = "run",
      .run = evaluate_main,
      .tried_flags = {tried_root()},
      .group = "evaluate",
      .takes_files = true};
}

}  // namespace lockstep::cli
