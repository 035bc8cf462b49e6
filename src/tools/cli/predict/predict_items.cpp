#include "tools/cli/predict/predict_items.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/beneath.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/devices/cpu_ranks.h"
#include "planning/order/item_tasks.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/predictions/earlier_predictions.h"
#include "runtime/run/predictions/prediction_folder.h"
#include "runtime/run/predictions/prediction_record.h"
#include "tools/cli/bench/measured_times.h"
#include "tools/cli/context.h"
#include "tools/cli/interrupts.h"
#include "tools/cli/plan/resolve.h"
#include "tools/cli/predict/further_runs.h"
#include "tools/cli/predict/item_report.h"
#include "tools/cli/predict/piped_text.h"
#include "tools/cli/predict/prediction_identity.h"
#include "tools/cli/ranks.h"
#include "tools/cli/run_end.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

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

// The inputs that the user typed, or else those of the options, or else a pipe.
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
    const NotedInterrupts interrupts;  // an interrupt must not leave the copied input behind
    copy_to_file(STDIN_FILENO, query.standard_input, [&] {
      if (!interrupts.came()) return;
      say("interrupted");
      throw ToldAlready{exit_interrupted};
    });
  }
  std::vector<PredictItem> items = setup.options->items(query);
  if (items.empty())
    throw Error("there is nothing to predict: the input is empty",
                what_to_give(setup.options->predict_input().kind));
  for (PredictItem& item : items)  // a recipe may have found items by itself
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

// Checks that files can be written into the folder, or that the folder can be created.
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

std::vector<std::string> known_outputs(const PredictInput& input,
                                       const std::vector<PredictItem>& items) {
  std::vector<std::string> names = input.joint_outputs;
  for (const PredictItem& item : items)
    if (!item.output.empty() && item.fault.empty()) names.push_back(item.output);
  return names;
}

// Checks that no output overwrites an input or is written through a link.
void check_outputs(const fs::path& folder, const PredictInput& input,
                   const std::vector<PredictItem>& items) {
  const std::vector<std::string> names = known_outputs(input, items);
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
}

void write_cbor(const fs::path& file, const nlohmann::json& value) {
  std::string bytes;
  nlohmann::json::to_cbor(value, bytes);
  write_file_atomic(file, bytes);
}

// Workers get the items and the folder separately, because these names may not be valid text.
void forget_items(OptionTable& options) {
  if (options.has(input_key)) options.set_json(input_key, nlohmann::json::array());
  if (options.has(out_key)) options.set_json(out_key, "");
  if (options.has(also_key)) options.set_json(also_key, nlohmann::json::array());
}

// The items to predict, with everything that predicting them needs.
struct Prediction {
  fs::path folder;  // folder of the outputs
  PredictInput input;
  std::vector<PredictItem> items;
  std::vector<std::string> item_keys;
  ChosenWeights weights;
  // The runs' exports lie in temporary folders that exist as long as this object.
  FurtherRuns further;
  PreparedRuns also;
  nlohmann::json identity;
  double item_s = 0;  // measured time per item from earlier commands; 0 if unknown
};

// Prepares the setup for `devices` in the form that workers receive, and the further runs.
void prepare_for_items(RunSetup& setup, const std::vector<Device>& devices, const RunDir& run,
                       const ReadOptions& reading, Prediction& prediction) {
  prediction.further = open_further_runs(
      setup, reading.weights.empty() ? run.path() : reading.weights, reading.root);
  prediction.weights = choose_weights(run, reading.weights, reading.best);
  if (!setup.plugin.empty()) forget_items(setup.options->table);  // a worker prepares the recipe
  const nlohmann::json found = prepare_to_predict(setup, devices, run.path());
  forget_items(setup.options->table);
  prediction.also = prepare_further_runs(prediction.further, setup, devices, reading.best);
  std::vector<std::string>& warnings = prediction.weights.warnings;
  warnings.insert(warnings.end(), prediction.also.warnings.begin(), prediction.also.warnings.end());
  for (const std::string& warning : warnings) say("warning: " + warning);
  prediction.identity = prediction_identity(
      setup, run_identity(run.path(), prediction.weights, found), prediction.also.identity);
  prediction.identity[from_export_key] = prediction.weights.checkpoint.is_null();
}

// Reads the records of predictions in the folder. If processes of a killed command still run, waits
// briefly for their end. own: the record of this command, once it exists. If two commands begin at
// the same moment, at least one sees the other. The younger command fails, and the older one waits
// for that.
std::vector<PredictionRecord> records_of(const Prediction& prediction, const fs::path& own = {}) {
  constexpr double patience_s = 5, look_again_s = 0.1;
  for (double waited_s = 0;; waited_s += look_again_s) {
    std::vector<PredictionRecord> records = read_records(prediction.folder);
    const auto made_now = find_made_now(records, prediction.identity, prediction.item_keys, own);
    if (made_now == records.end()) return records;
    const bool gives_way = !own.empty() && made_now->file < own;
    if (gives_way || waited_s >= patience_s)
      throw Error(
          cat("another command is predicting these items into ", prediction.folder.string()),
          "wait for it, or name another folder with out=");
    system_clock().sleep_s(look_again_s);
  }
}

void remove_outputs(const fs::path& folder, const std::vector<std::string>& names) {
  std::error_code ignored;
  if (names.empty() || !fs::is_directory(folder, ignored)) return;
  const Beneath outputs(folder);
  for (const std::string& name : names) outputs.remove(name);
}

// Finds predictions that earlier commands made. With --force they are all ignored.
EarlierPredictions earlier_of(const Prediction& prediction, const ReadOptions& reading) {
  const std::vector<PredictionRecord> records = records_of(prediction);
  std::vector<std::string> stale =
      stale_partial(prediction.folder, records, prediction.input.joint_outputs);
  if (reading.force) {
    for (const fs::path& record :
         records_of_items(records, prediction.identity, prediction.item_keys))
      remove_record(record);
    remove_outputs(prediction.folder, stale);
    return {};
  }
  EarlierPredictions earlier = find_earlier(prediction.folder, records, prediction.identity,
                                            {.items = prediction.items,
                                             .item_keys = prediction.item_keys,
                                             .batch = prediction.input.batch,
                                             .joint_outputs = prediction.input.joint_outputs});
  if (reading.replace || earlier.may_replace)
    earlier.stale = std::move(stale);
  else
    check_nothing_in_the_way(earlier, prediction.folder, records, prediction.identity);
  return earlier;
}

void say_other_devices(const EarlierPredictions& earlier, const std::string& device) {
  std::set<std::string> others = earlier.devices;
  others.erase(device);
  if (others.empty()) return;
  say(cat("note: some items were predicted on ",
          join(std::vector(others.begin(), others.end()), " and "), ", the rest on ", device,
          ": kinds of device may round differently"));
}

std::set<std::int64_t> done_parts(const EarlierPredictions& earlier) {
  std::set<std::int64_t> parts;
  for (const auto& [part, place] : earlier.done) parts.insert(part);
  return parts;
}

nlohmann::json request_for(const Prediction& prediction, const RunSetup& setup,
                           const EarlierPredictions& earlier, const PredictionFolder& folder,
                           const RecordWriter& record, bool replaces, double ends_s) {
  nlohmann::json done = nlohmann::json::array();
  for (const auto& [part, from] : earlier.done)
    done.push_back({part, from.record.string(), from.place.offset, from.place.bytes});
  return {{"items", to_cbor(prediction.items)},
          {"item_keys", prediction.item_keys},
          {"batch", prediction.input.batch},
          {"extra", setup.prepared.extra},
          {"also", prediction.also.request},
          {"step", prediction.weights.checkpoint},
          {"folder", folder.path().string()},
          {"scratch", folder.scratch().string()},
          {"record", record.path().string()},
          {"done", done},
          {"own", earlier.own},
          {"ends_s", ends_s},
          {"item_s", prediction.item_s},
          {"replace", replaces}};
}

std::vector<std::string> keep_partial(const PredictionFolder& folder,
                                      const std::vector<std::string>& joint_outputs,
                                      const EarlierPredictions& earlier, RecordWriter& record) {
  std::vector<std::string> names = folder.keep_partial(joint_outputs);
  if (names.empty()) return earlier.partial;
  remove_outputs(folder.path(), earlier.partial);
  std::vector<OutputStamp> files;
  try {
    for (const std::string& name : names) files.push_back(stamp_output(folder.path() / name, name));
    if (!files.empty()) record.add_partial(files);
  } catch (const Error&) {  // these outputs are then not removed at the end
  }
  return names;
}

void remove_held(const EarlierPredictions& earlier, const RecordWriter& record) {
  remove_held_folder(record.path());
  for (const fs::path& file : earlier.records) remove_held_folder(file);
}

// The items that this command has recorded, by their keys.
std::map<std::string, RecordedItem> recorded_items(const fs::path& folder, const RecordWriter& own,
                                                   std::int64_t& count) {
  std::map<std::string, RecordedItem> items;
  for (const PredictionRecord& record : read_records(folder))
    if (record.file == own.path())
      for (const PredictionRecord::Part& part : record.parts)
        for (const RecordedItem& item : part.items) {
          items[item.key] = item;
          ++count;
        }
  return items;
}

// Whether a finished item is not at its final place yet, because an earlier item is unfinished
// (`is_behind`).
bool waits(const fs::path& folder, const RecordedItem& item, bool is_behind) {
  if (item.files.empty()) return is_behind;
  std::error_code ignored;
  return std::any_of(item.files.begin(), item.files.end(), [&](const OutputStamp& file) {
    return !file.held.empty() && fs::exists(folder / file.held, ignored);
  });
}

std::int64_t waiting_items(const Prediction& prediction, const EarlierPredictions& earlier,
                           const std::map<std::string, RecordedItem>& own) {
  const std::vector<std::string>& keys = prediction.item_keys;
  const std::int64_t batch = prediction.input.batch;
  std::int64_t count = 0;
  bool is_behind = false;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto part = earlier.done.find(static_cast<std::int64_t>(i) / batch);
    const auto made = own.find(keys[i]);
    if (part == earlier.done.end() && made == own.end()) {
      is_behind = true;
    } else if (made != own.end()) {
      count += waits(prediction.folder, made->second, is_behind) ? 1 : 0;
    } else {
      const RecordedPart before = read_part(part->second.record, part->second.place);
      count += waits(prediction.folder, before.at(i % static_cast<std::size_t>(batch)), is_behind)
                   ? 1
                   : 0;
    }
  }
  return count;
}

int run_item_ranks(Ranks& ranks, ItemTally& tally, const Prediction& prediction,
                   const EarlierPredictions& earlier, const PredictionFolder& folder,
                   RecordWriter& record, const ReadOptions& reading, PredictionTimer& timer) {
  ranks.on_event = [&](const nlohmann::json& event) {
    if (text_or(event, "kind", "") == "items") timer.on_items();
    tally.on_event(event);
  };
  timer.begin(std::ssize(ranks.devices));
  const LaunchOutcome outcome = run_ranks(ranks);
  const bool finished = std::holds_alternative<Finished>(outcome);
  if (finished && tally.done == tally.total) {
    timer.all_done(tally.total - tally.earlier);
    remove_outputs(folder.path(), earlier.partial);
    remove_outputs(folder.path(), earlier.stale);
    remove_held(earlier, record);
    return report_items_done(tally, folder.path(), prediction.input.joint_outputs, reading.json);
  }
  // Events arrive later than the records are written.
  std::int64_t recorded = 0;
  const auto own = recorded_items(prediction.folder, record, recorded);
  tally.done = std::max(tally.done, tally.earlier + recorded);
  tally.waiting = waiting_items(prediction, earlier, own);
  const std::vector<std::string>& joint = prediction.input.joint_outputs;
  const std::vector<std::string> partial = keep_partial(
      folder, tally.waiting < tally.done ? joint : std::vector<std::string>{}, earlier, record);
  if (finished && tally.left > 0) {
    report_no_time(tally, folder.path(), partial, reading.again);
    return exit_stopped;
  }
  report_items_left(outcome, tally, folder, partial, reading.again);
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

ItemLoad check_items(const RunSetup& setup, const fs::path& run, bool are_new) {
  const PredictInput input = setup.options->predict_input();
  const std::vector<std::string> inputs = recorded_inputs(setup);
  if (inputs.empty() && !input.finds_items)
    throw Error("there is nothing that --then predict could predict",
                cat("set ", input_key, ", or leave out --then predict"));
  open_further_runs(setup, run, setup.train->run.root);
  if (std::find(inputs.begin(), inputs.end(), "-") != inputs.end()) return {};
  const std::vector<PredictItem> items = items_of(setup, inputs, run, {});
  const OptionTable& table = setup.options->table;
  if (table.has(out_key) && !table.get(out_key).empty()) {
    const fs::path out = fs::absolute(table.get(out_key)).lexically_normal();
    check_can_write_into(out);
    check_outputs(out, input, items);
    if (are_new) check_outputs_are_new(out, known_outputs(input, items));
  }
  return load_of(items);
}

int predict_items(const RunDir& run, RunSetup setup, std::vector<Device> devices,
                  const ReadOptions& reading, std::vector<std::string> inputs) {
  check_can_run(devices);
  inputs = chosen_inputs(setup, setup.options->predict_input(), std::move(inputs));
  // Names of outputs may be derived from the names of the inputs.
  if (OptionTable& table = setup.options->table; table.has(input_key) && setup.plugin.empty())
    table.set_json(input_key, inputs, {.kind = ValueSource::Kind::argument});
  const TemporaryDirectory temporary;
  Prediction prediction{.folder = output_folder(setup, reading),
                        .input = setup.options->predict_input(),
                        .items = items_of(setup, inputs, run.path(), temporary.path())};
  check_outputs(prediction.folder, prediction.input, prediction.items);
  for (const PredictItem& item : prediction.items) prediction.item_keys.push_back(item_key(item));
  // The timer needs the options, model size and devices under which training stores its times.
  // Preparing changes them, so it is created first.
  const ItemLoad load = load_of(prediction.items);
  PredictionTimer timer(setup, devices, load);
  prediction.item_s = known_item_s(setup, devices, load);
  prepare_for_items(setup, devices, run, reading, prediction);

  const EarlierPredictions earlier = earlier_of(prediction, reading);
  const auto count = static_cast<std::int64_t>(prediction.items.size());
  ItemTally tally{.total = count, .earlier = earlier.done_items, .done = earlier.done_items};
  for (const std::string& warning : prediction.weights.warnings) tally.warnings.push_back(warning);
  if (earlier.is_finished)
    return report_items_done(tally, prediction.folder, prediction.input.joint_outputs,
                             reading.json);
  say_what_is_done(tally);
  say_other_devices(earlier, devices[0].name);
  devices.resize(static_cast<std::size_t>(ranks_for_items(
      prediction.items, prediction.input.batch, std::ssize(devices), done_parts(earlier))));
  setup.plan.devices = devices;
  setup.plan.batch.world_size = std::ssize(devices);

  const PredictionFolder folder(prediction.folder);
  const bool replaces = reading.force || reading.replace || earlier.may_replace;
  RecordWriter done =
      RecordWriter::create(prediction.folder, {.identity = prediction.identity,
                                               .list = list_key(prediction.item_keys),
                                               .device = devices[0].name,
                                               .replaces = replaces});
  try {
    records_of(prediction, done.path());
  } catch (const Error&) {
    remove_record(done.path());
    throw;
  }
  const fs::path record = temporary.path() / "record.json", request = temporary.path() / "request";
  write_file_atomic(record, setup_to_json(setup).dump());
  write_cbor(request,
             request_for(prediction, setup, earlier, folder, done, replaces, reading.ends_s));
  Ranks ranks{.arguments = {"predict-items", "--run", fs::absolute(run.path()).string(), "--record",
                            record.string(), "--request", request.string()},
              .devices = devices,
              .log_dir = temporary.path()};
  if (!reading.weights.empty())
    ranks.arguments.insert(ranks.arguments.end(), {"--weights", reading.weights.string()});
  return run_item_ranks(ranks, tally, prediction, earlier, folder, done, reading, timer);
}

}  // namespace lockstep::cli
