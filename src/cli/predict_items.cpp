#include "cli/predict_items.h"

#include "base/beneath.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/context.h"
#include "cli/further_runs.h"
#include "cli/interrupts.h"
#include "cli/measured_times.h"
#include "cli/piped_text.h"
#include "cli/ranks.h"
#include "cli/resolve.h"
#include "cli/run_end.h"
#include "devices/cpu_ranks.h"
#include "plan/item_tasks.h"
#include "run/json_lines.h"
#include "run/prediction_folder.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace lockstep::cli {
namespace fs = std::filesystem;

namespace {

constexpr double pipe_patience_s = 5;
constexpr const char* predictions_name = "predictions";

const char* what_to_give(PredictInput::Kind kind) {
  switch (kind) {
    case PredictInput::Kind::files:
      return "name files, folders or globs: lockstep predict RUN FILE …; - reads a list of files";
    case PredictInput::Kind::lines:
      return "name files whose lines are predicted: lockstep predict RUN FILE …; - reads standard "
             "input";
    default:
      return "name what to predict: lockstep predict RUN WORD …; - reads standard input";
  }
}

std::vector<std::string> recorded_inputs(const RunSetup& setup) {
  const OptionTable& table = setup.options->table;
  if (!table.has(input_key)) return {};
  return table.to_json().at(input_key).get<std::vector<std::string>>();
}

// As typed, else as the options say, else a pipe.
std::vector<std::string> chosen_inputs(const RunSetup& setup, const PredictInput& input,
                                       std::vector<std::string> typed) {
  const OptionTable& table = setup.options->table;
  if (!typed.empty() && is_asked_for(table, input_key))
    throw Error(cat("inputs are given twice: as operands and by ", input_key), "leave out one");
  if (typed.empty()) typed = recorded_inputs(setup);
  if (!typed.empty() || input.finds_items) return typed;
  if (has_piped_text(STDIN_FILENO, pipe_patience_s, say)) return {"-"};
  throw Error("there is nothing to predict", what_to_give(input.kind));
}

std::vector<PredictItem> items_of(const RunSetup& setup, const std::vector<std::string>& inputs,
                                  const fs::path& run, const fs::path& folder) {
  ItemQuery query{.inputs = inputs,
                  .run_dir = run.empty() ? run : fs::absolute(run),
                  .cache_dir = fs::absolute(cache_for(Purpose::predict, *setup.train, run))};
  if (std::find(inputs.begin(), inputs.end(), "-") != inputs.end()) {
    query.standard_input = folder / "standard-input";
    const NotedInterrupts interrupts;  // so that what was read does not stay
    copy_to_file(STDIN_FILENO, query.standard_input, [&] {
      if (!interrupts.came()) return;
      say("interrupted");
      throw ToldAlready{exit_interrupted};
    });
  }
  std::vector<PredictItem> items = setup.options->items(query);
  if (items.empty()) throw Error("there is nothing to predict: the input is empty");
  for (PredictItem& item : items)  // which a recipe may have found by itself
    if (item.fault.empty() && !item.output.empty()) item.fault = fault_of_output_name(item.output);
  return items;
}

fs::path output_folder(const RunSetup& setup, const ReadOptions& reading) {
  const OptionTable& table = setup.options->table;
  const std::string out = table.has(out_key) ? table.get(out_key) : "";
  if (!out.empty()) return fs::absolute(out).lexically_normal();
  const Beneath run(reading.outputs);
  if (run.link_to(predictions_name)) run.fail("write into", predictions_name, ELOOP);
  return fs::absolute(reading.outputs / predictions_name).lexically_normal();
}

// Whether the folder is there or can be made, and files in it.
void check_can_write_into(const fs::path& folder) {
  std::error_code ignored;
  fs::path there = folder;
  while (there.has_parent_path() && there != there.parent_path() && !fs::exists(there, ignored))
    there = there.parent_path();
  const bool is_folder = fs::is_directory(there, ignored);
  if (is_folder && ::access(there.c_str(), W_OK | X_OK) == 0) return;
  throw Error(cat("cannot write into ", folder.string(), ": ", there.string(),
                  is_folder ? cat(": ", errno_text(errno)) : " is no folder"),
              "name another folder with out=");
}

// --force overwrites outputs, and never what they are made of.
void check_outputs(const fs::path& folder, const PredictInput& input,
                   const std::vector<PredictItem>& items, bool force) {
  std::vector<std::string> names = input.joint_outputs;
  for (const PredictItem& item : items)
    if (!item.output.empty() && item.fault.empty()) names.push_back(item.output);
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) {
    const Beneath outputs(folder);
    for (const std::string& name : names)
      if (outputs.link_to(fs::path(name).parent_path())) outputs.fail("write", name, ELOOP);
  }
  InputFiles inputs(items);
  for (const std::string& name : names)
    if (inputs.holds(folder / name))
      throw Error(cat("the output ", (folder / name).string(), " would replace an input"),
                  "name another folder with out=");
  if (!force) check_outputs_are_new(folder, names);
}

void write_cbor(const fs::path& file, const nlohmann::json& value) {
  std::string bytes;
  nlohmann::json::to_cbor(value, bytes);
  write_file_atomic(file, bytes);
}

// What rank 0 tells while it goes.
struct Tally {
  std::int64_t placed = 0, left = 0, total = 0;
  nlohmann::json skipped = nlohmann::json::array(), warnings = nlohmann::json::array();

  void on_event(const nlohmann::json& event) {
    const std::string kind = text_or(event, "kind", "");
    if (kind == "items") {
      placed = integer_or(event, "placed", placed);
      left = integer_or(event, "left", left);
    }
    if (kind == "warning") warnings.push_back(text_or(event, "text", ""));
    if (kind == "item_skipped")
      skipped.push_back(
          {{"name", text_or(event, "name", "")}, {"reason", text_or(event, "reason", "")}});
  }
  std::int64_t done() const { return placed - static_cast<std::int64_t>(skipped.size()); }
};

std::string items_text(std::int64_t count) { return cat(count, count == 1 ? " item" : " items"); }

// Outputs that are made of all items, where some were skipped.
void say_joint_outputs_lack(const Tally& tally, const std::vector<std::string>& outputs) {
  constexpr std::size_t most_named = 5;
  if (outputs.empty() || tally.skipped.empty()) return;
  std::vector<std::string> names;
  for (const nlohmann::json& one : tally.skipped)
    if (names.size() < most_named) names.push_back(one.at("name").get<std::string>());
  const std::size_t more = tally.skipped.size() - names.size();
  say(cat("warning: ", join(outputs, " and "), outputs.size() == 1 ? " lacks " : " lack ",
          tally.skipped.size(), " of ", items_text(tally.total), ": ", join(names, ", "),
          more == 0 ? "" : cat(" and ", more, " more")));
}

int report_done(const Tally& tally, const fs::path& folder,
                const std::vector<std::string>& joint_outputs, bool json) {
  say_joint_outputs_lack(tally, joint_outputs);
  const auto skipped = static_cast<std::int64_t>(tally.skipped.size());
  say(cat("predicted ", items_text(tally.done()), " into ", folder.string(),
          skipped == 0 ? "" : cat("; skipped ", skipped, " of ", tally.total)));
  if (json)
    print(json_text({{"out", folder.string()},
                     {"items", tally.total},
                     {"predicted", tally.done()},
                     {"skipped", tally.skipped},
                     {"warnings", tally.warnings}}));
  return skipped == 0 ? exit_finished : exit_failed;
}

// What a command that failed leaves, before it says why it failed.
void report_rest(const LaunchOutcome& outcome, const Tally& tally, const PredictionFolder& folder) {
  if (const auto* const failed = std::get_if<RankFailed>(&outcome); failed && !failed->error) {
    std::error_code ignored;
    const fs::path at = folder.scratch() / cat("at-rank", failed->rank);
    if (fs::exists(at, ignored))
      say(cat("rank ", failed->rank, " was at ", printable(read_file(at))));
  }
  std::string text = cat("not finished: ", tally.placed, " of ", tally.total,
                         " items are done, in ", folder.path().string());
  for (const std::string& name : folder.keep_partial())
    text += cat("; ", name, " holds their part");
  say(text);
}

// Workers get the items and the folder by themselves, whose names may be no text.
void forget_items(OptionTable& options) {
  if (options.has(input_key)) options.set_json(input_key, nlohmann::json::array());
  if (options.has(out_key)) options.set_json(out_key, "");
  if (options.has(also_key)) options.set_json(also_key, nlohmann::json::array());
}

// What the workers are to know of the run: its record, prepared for `devices`.
void prepare_for_items(RunSetup& setup, const std::vector<Device>& devices, const fs::path& run) {
  if (!setup.plugin.empty()) forget_items(setup.options->table);  // a worker prepares
  prepare_to_predict(setup, devices, run);
  forget_items(setup.options->table);
  setup.plan.devices = devices;
  setup.plan.batch.world_size = static_cast<std::int64_t>(devices.size());
}

// Where the time was too short for all.
int report_left(const Tally& tally, const PredictionFolder& folder) {
  std::string text = cat("predicted ", items_text(tally.done()), " of ", tally.total, " into ",
                         folder.path().string(), "; ", tally.left,
                         " would not have ended before the quota is over");
  for (const std::string& name : folder.keep_partial())
    text += cat("; ", name, " holds the part of those that are done");
  say(text);
  return exit_stopped;
}

int run_item_ranks(Ranks& ranks, std::int64_t items, const PredictionFolder& folder,
                   const std::vector<std::string>& joint_outputs, bool json,
                   PredictionTimer& timer) {
  Tally tally{.total = items};
  ranks.on_event = [&](const nlohmann::json& event) {
    if (text_or(event, "kind", "") == "items") timer.on_items();
    tally.on_event(event);
  };
  timer.begin();
  const LaunchOutcome outcome = run_ranks(ranks);
  const bool finished = std::holds_alternative<Finished>(outcome);
  if (finished && tally.placed == items) {
    timer.all_done(items);
    return report_done(tally, folder.path(), joint_outputs, json);
  }
  if (finished && tally.left > 0) return report_left(tally, folder);
  report_rest(outcome, tally, folder);
  if (finished) throw Error("the ranks ended before all items were done");
  return report_reading(outcome);
}

}  // namespace

std::vector<Device> devices_for_items(const std::string& spec) {
  constexpr int most_ranks = 16;
  const std::vector<Device> devices = devices_for(spec);
  if (!spec.empty() || devices[0].kind == DeviceKind::cuda) return devices;
  const HostInfo host = host_info();
  return cpu_ranks(std::clamp(host.cores, 1, most_ranks), host);
}

std::int64_t check_items(const RunSetup& setup, const fs::path& run, bool force) {
  const PredictInput input = setup.options->predict_input();
  const std::vector<std::string> inputs = recorded_inputs(setup);
  if (inputs.empty() && !input.finds_items)
    throw Error("there is nothing that --then predict could predict",
                cat("set ", input_key, ", or leave out --then predict"));
  open_further_runs(setup, run, setup.train->run.root);
  if (std::find(inputs.begin(), inputs.end(), "-") != inputs.end()) return 0;
  const std::vector<PredictItem> items = items_of(setup, inputs, run, {});
  const OptionTable& table = setup.options->table;
  if (table.has(out_key) && !table.get(out_key).empty()) {
    const fs::path out = fs::absolute(table.get(out_key)).lexically_normal();
    check_can_write_into(out);
    check_outputs(out, input, items, force);
  }
  return std::ssize(items);
}

int predict_items(const RunDir& run, RunSetup setup, std::vector<Device> devices,
                  const ReadOptions& reading, std::vector<std::string> inputs) {
  check_can_run(devices);
  inputs = chosen_inputs(setup, setup.options->predict_input(), std::move(inputs));
  // Names of outputs may follow from those of the inputs.
  if (OptionTable& table = setup.options->table; table.has(input_key) && setup.plugin.empty())
    table.set_json(input_key, inputs, {.kind = ValueSource::Kind::argument});
  const PredictInput input = setup.options->predict_input();
  const TemporaryDirectory temporary;
  const std::vector<PredictItem> items = items_of(setup, inputs, run.path(), temporary.path());
  const fs::path out = output_folder(setup, reading);
  check_outputs(out, input, items, reading.force);
  const FurtherRuns also = open_further_runs(
      setup, reading.weights.empty() ? run.path() : reading.weights, reading.root);
  devices.resize(
      static_cast<std::size_t>(ranks_for_items(items, input.batch, std::ssize(devices))));
  PredictionTimer timer(setup, devices);
  const double item_s = known_item_s(setup, devices);
  prepare_for_items(setup, devices, run.path());

  const PredictionFolder folder(out);
  const fs::path record = temporary.path() / "record.json", request = temporary.path() / "request";
  write_file_atomic(record, setup_to_json(setup).dump());
  write_cbor(request, {{"items", to_cbor(items)},
                       {"batch", input.batch},
                       {"extra", setup.prepared.extra},
                       {"also", prepare_further_runs(also, setup, devices)},
                       {"folder", folder.path().string()},
                       {"scratch", folder.scratch().string()},
                       {"replace", reading.force},
                       {"ends_s", reading.ends_s},
                       {"item_s", item_s}});
  Ranks ranks{.arguments = {"predict-items", "--run", fs::absolute(run.path()).string(), "--record",
                            record.string(), "--request", request.string()},
              .devices = devices,
              .log_dir = temporary.path()};
  if (reading.best) ranks.arguments.push_back("--best");
  if (!reading.weights.empty())
    ranks.arguments.insert(ranks.arguments.end(), {"--weights", reading.weights.string()});
  return run_item_ranks(ranks, static_cast<std::int64_t>(items.size()), folder, input.joint_outputs,
                        reading.json, timer);
}

}  // namespace lockstep::cli
