// Resolves a command's options, prepares the recipe's data and makes the plan.
#include "tools/cli/plan/resolve.h"

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "planning/memory/memory.h"
#include "planning/options/batch_options.h"
#include "planning/options/no_effect.h"
#include "planning/options/parameter_rules.h"
#include "planning/options/run_length.h"
#include "planning/precision.h"
#include "planning/step_estimate.h"
#include "planning/words.h"
#include "runtime/run/checkpoint/weight_source.h"
#include "runtime/run/events/json_lines.h"
#include "tools/cli/bench/measure_memory.h"
#include "tools/cli/context.h"
#include "tools/cli/plan/first_weights.h"
#include "tools/cli/plan/fitting_sample.h"
#include "tools/cli/plan/plugin_options.h"
#include "tools/cli/plan/trusted_plugins.h"
#include "tools/cli/words/foreign_names.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace lockstep::cli {
namespace {

std::vector<std::filesystem::path> paths(const std::vector<std::string>& files) {
  return {files.begin(), files.end()};
}

// Whether an option may differ from the recorded run. This holds for groups that concern only other
// commands than `train`, or only the reading of files.
bool may_change(const std::string& key) {
  return key.starts_with("predict.") || key.starts_with("evaluate.") || key.starts_with("score.") ||
         key.starts_with("files.");
}

// Checks that values on which weights and sample order depend are unchanged. They are some options
// of the engine and all options of the recipe. Paths and options for which `may_change` is true are
// not checked. The recipe's preparation ensures that the data is the same.
void check_frozen(const RunSetup& setup, const nlohmann::json& before) {
  const auto check = [&](const std::string& key, const nlohmann::json& now) {
    if (!before.contains(key) || before[key] == now) return;
    const std::string of_outputs = cat("predict.", key.substr(key.rfind('.') + 1));
    throw Error(cat(key, " cannot change when a run goes on: it is ", before[key].dump(), ", not ",
                    now.dump()),
                setup.options->table.has(of_outputs)
                    ? cat("for what is predicted, set ", of_outputs, "; else ", new_run_hint)
                    : new_run_hint);
  };
  const nlohmann::json engine = setup.train->table.to_json();
  for (const char* key :
       {"seed", "batch.global", "norm.statistics", "norm.rows", "data.shuffle", "data.drop_last",
        "data.group_by_length", "exact", "train.freeze", "optimizer.groups", "init.from",
        "init.checkpoint", "init.average", "init.map", "init.missing", "init.unexpected"})
    check(key, engine.at(key));
  if (setup.train->exact) check("batch.micro", engine.at("batch.micro"));
  const nlohmann::json recipe = setup.options->table.to_json();
  for (const OptionInfo& option : setup.options->table.options())
    if (!may_change(option.key) && !option.spec.is_path) check(option.key, recipe.at(option.key));
}

// A data option on `lockstep predict` applies to predictions if the recipe has an option of that
// name for them. For example, data.language is taken as predict.language. The run's own
// data.language stays unchanged.
void pass_on_to_predict(OptionTable& options, const nlohmann::json& before) {
  for (const OptionInfo& option : options.options()) {
    if (!option.key.starts_with("data.") || option.spec.is_path || !before.contains(option.key) ||
        !is_asked_for(options, option.key))
      continue;
    const std::string of_predict = cat("predict.", option.key.substr(5));
    if (!options.has(of_predict)) continue;
    if (!is_asked_for(options, of_predict))
      options.set(of_predict, options.get(option.key), option.source);
    options.set_json(option.key, before[option.key], {.kind = ValueSource::Kind::record});
  }
}

// A recipe may have its own option for the length of a run, such as stop.episodes. The option's
// value is the number of samples in an epoch. A resumed run keeps that number, and with it the
// sample order. So another value becomes another number of epochs.
void pass_on_to_epochs(RunSetup& setup, const nlohmann::json& before) {
  const Facts& facts = setup.prepared.facts;
  const std::int64_t epoch = facts.epoch_size > 0 ? facts.epoch_size : facts.train_samples;
  OptionTable& options = setup.options->table;
  OptionTable& engine = setup.train->table;
  const nlohmann::json now = options.to_json();
  for (const OptionInfo& option : options.options()) {
    const std::string& key = option.key;
    if (!is_asked_for(options, key) || !before.contains(key) ||
        !is_epoch_option(key, before[key], epoch) || now[key] == epoch ||
        is_asked_for(engine, "stop.epochs"))
      continue;
    engine.set_json("stop.epochs", now[key].get<double>() / static_cast<double>(epoch),
                    option.source);
    options.set_json(key, before[key], {.kind = ValueSource::Kind::record});
  }
}

// Compares two values. Paths with and without a slash at the end are equal.
bool is_same_value(const OptionInfo& option, nlohmann::json now, nlohmann::json before) {
  for (nlohmann::json* value : {&now, &before})
    if (option.spec.is_path && value->is_string())
      if (auto text = value->get<std::string>(); text.size() > 1 && text.ends_with('/'))
        *value = text.substr(0, text.size() - 1);
  return now == before;
}

// Folders below data.path, such as data.labels, move along if the user names another data.path that
// contains them. Without this, images of one data set would be read with labels of another.
void take_folders_of(OptionTable& options, const nlohmann::json& before,
                     const nlohmann::json& now) {
  const auto text_in = [](const nlohmann::json& values, const std::string& key) {
    const nlohmann::json value = values.value(key, nlohmann::json());
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  const std::filesystem::path from = text_in(before, "data.path"), to = text_in(now, "data.path");
  if (from.empty() || to.empty()) return;
  for (const OptionInfo& option : options.options()) {
    const std::filesystem::path path = text_in(now, option.key);
    if (!option.spec.is_path || !option.key.starts_with("data.") || path.empty() ||
        is_asked_for(options, option.key))
      continue;
    const std::filesystem::path below = path.lexically_relative(from);
    std::error_code ignored;
    if (!below.empty() && *below.begin() != ".." &&
        std::filesystem::is_directory(to / below, ignored))
      options.set_json(option.key, (to / below).lexically_normal().string(),
                       {.kind = ValueSource::Kind::record});
  }
}

// An option that repeats the run's own value is not a change, because a user may give a command
// again. Paths of files to read now, such as the evaluated file, always count as given. So does
// data.valid_share if the command names another data.path.
void take_from_record(OptionTable& options, const nlohmann::json& before) {
  options.make_paths_absolute(std::filesystem::current_path());
  const nlohmann::json now = options.to_json();
  const bool names_other_data = is_asked_for(options, "data.path") &&
                                before.value("data.path", nlohmann::json()) != now["data.path"];
  if (names_other_data) take_folders_of(options, before, now);
  for (const OptionInfo& option : options.options()) {
    const std::string& key = option.key;
    const bool says_what_to_read =
        option.spec.is_path && (key.starts_with("data.") || may_change(key));
    if (says_what_to_read || (names_other_data && key == "data.valid_share")) continue;
    if (is_asked_for(options, key) && before.contains(key) &&
        is_same_value(option, now[key], before[key]))
      options.set_json(key, before[key], {.kind = ValueSource::Kind::record});
  }
}

// Whether the command asks for a micro-batch or an accumulation that differs from the record. The
// value 0 asks for a new automatic choice. If the command repeats the recorded values,
// batch_to_keep keeps them.
bool shares_out_anew(const OptionTable& table, const BatchSizes& now, const BatchSizes& recorded) {
  const auto asks = [&](const char* key, std::int64_t value, std::int64_t before) {
    return is_asked_for(table, key) && (value == 0 || value != before);
  };
  return asks("batch.micro", now.micro, recorded.micro) ||
         asks("batch.accumulation", now.accumulation, recorded.accumulation);
}

void check_exact(const TrainOptions& options) {
  if (!options.exact) return;
  if (options.shard_optimizer)
    throw Error(
        "exact = true and shard_optimizer = true exclude each other: shares of the optimizer's "
        "work, and with them the rounding of the gradient's norm, follow the number of devices",
        "leave out one of them");
  if (!options.batch.micro_changes.empty())
    throw Error("exact = true keeps one micro-batch, but batch.micro_changes is set",
                "leave out batch.micro_changes");
  if (options.reduce_precision != ReducePrecision::fp32)
    throw Error("exact = true adds up gradients in fp32, but reduce_precision is bf16",
                "set reduce_precision=fp32");
}

template <typename Check>
void note_missing(const OnMissingFile& on_missing, const Check& check) try {
  check();
} catch (const MissingFile& error) {
  if (!on_missing) throw;
  on_missing(error);
} catch (const NoEffect& error) {
  if (!on_missing) throw;
  on_missing(error);
}

// Checks rules between options, and makes paths as the record stores them.
void check_options(RunSetup& setup, const OnMissingFile& on_missing = {}) {
  note_missing(on_missing, [&] { setup.options->check(*setup.train); });
  check_exact(*setup.train);
  check_parameter_options(*setup.train);
  check_optimizer(*setup.train);
  const std::vector<std::string> metrics = setup.options->metric_names();
  const std::string& best = setup.train->checkpoint.best_metric;
  if (!best.empty() && !metrics.empty()) check_best_metric(metrics, best);
  for (OptionTable* table : setup.tables())
    table->make_paths_absolute(std::filesystem::current_path());
}

// Finds and checks the files of the first weights. Hashes them if a run is made from them.
void resolve_first_weights(RunSetup& setup, Purpose purpose) {
  const auto& init = setup.train->init;
  setup.init =
      to_json(find_weight_source(init.from, init.checkpoint == InitCheckpoint::best, init.average),
              /*hashed=*/purpose == Purpose::train);
}

// Whether only the names in the model allow checking the options and counting parameters.
bool needs_model(const TrainOptions& train) {
  return !train.train.freeze.empty() || !train.optimizer.groups.empty() ||
         !train.init.from.empty() || goes_by_parameters(train.optimizer.kind);
}

const char* purpose_word(Purpose purpose) {
  switch (purpose) {
    case Purpose::plan:
      return "plan";
    case Purpose::train:
      return "train";
    case Purpose::evaluate:
      return "evaluate";
    case Purpose::predict:
      return "predict";
  }
  return "";
}

bool can_write(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  return !error && access(folder.c_str(), W_OK) == 0;
}

// This file marks a folder as a cache. Lockstep writes it into folders that a user has named with
// run.cache.
constexpr const char* cache_mark = ".lockstep-cache";

// Marks the folder with a file of our own. With a standard CACHEDIR.TAG, backup programs would skip
// all files beside it. The folder may hold more than the cache.
void make_cache(const std::filesystem::path& folder) try {
  make_directories(folder);
  if (!std::filesystem::exists(folder / cache_mark)) write_file_atomic(folder / cache_mark, "");
} catch (const std::exception& problem) {
  throw Error(problem.what(), "set run.cache to a folder that you can write to");
}

bool is_marked_cache(const std::filesystem::path& folder) {
  std::error_code ignored;
  return !folder.empty() && std::filesystem::is_regular_file(folder / cache_mark, ignored) &&
         can_write(folder);
}

bool is_own(const std::filesystem::path& folder) {
  struct stat info {};
  return stat(folder.c_str(), &info) == 0 && info.st_uid == getuid();
}

// The temporary folder is shared by all users. Anybody could have created a folder with this name,
// so its owner and permissions are checked.
std::filesystem::path own_temporary_folder() {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / cat("lockstep-", getuid());
  mkdir(folder.c_str(), 0700);
  struct stat info {};
  if (lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != getuid() ||
      (info.st_mode & 022) != 0)
    throw Error(cat(folder.string(), " must be a folder that only you can write to, but is not"),
                "remove it, or set XDG_CACHE_HOME to a folder of yours");
  return folder;
}

// The user's own cache. It is used by commands that only read a run and may not write into the
// folder of runs.
std::filesystem::path user_cache() {
  const char* const xdg = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  std::filesystem::path folder;
  if (xdg != nullptr && *xdg == '/')
    folder = std::filesystem::path(xdg) / "lockstep/prepared";
  else if (home != nullptr && *home == '/')
    folder = std::filesystem::path(home) / ".cache/lockstep/prepared";
  if (!folder.empty() && can_write(folder)) return folder;
  return own_temporary_folder();
}

}  // namespace

// The record of a run may come from a stranger, so it may not choose where files are written.
// Commands that only read a run use a recorded run.cache only if a user has named that folder
// before.
std::filesystem::path cache_for(Purpose purpose, const TrainOptions& train,
                                const std::filesystem::path& run_dir) {
  const std::filesystem::path own = cache_dir(train), chosen = train.run.cache;
  const bool is_asked = is_asked_for(train.table, "run.cache");
  if (is_asked || purpose == Purpose::train) {
    // The record may name a disk that no longer exists.
    if (!chosen.empty() && (is_asked || can_write(chosen))) {
      make_cache(chosen);
      return chosen;
    }
    if (purpose == Purpose::train) return own;
  }
  std::error_code error;
  const bool lies_in_root = run_dir.empty() || std::filesystem::equivalent(
                                                   std::filesystem::absolute(run_dir).parent_path(),
                                                   train.run.root, error);
  if (is_marked_cache(chosen) && (lies_in_root || is_own(chosen))) return chosen;
  return lies_in_root && can_write(own) ? own : user_cache();
}

bool is_asked_for(const OptionTable& table, std::string_view key) {
  return table.is_asked_for(key);
}

bool names_data(const OptionTable& table) {
  const std::vector<OptionInfo> options = table.options();
  return std::any_of(options.begin(), options.end(), [&](const OptionInfo& option) {
    return option.spec.is_path && option.key.starts_with("data.") &&
           is_asked_for(table, option.key);
  });
}

namespace {

// Asks the worker for facts that only a model knows. If the recipe is not prepared yet, the worker
// also prepares it. The answer has facts, `extra`, files to keep and memory.
nlohmann::json ask_for_facts(const RunSetup& setup, Purpose purpose, bool has_gpu,
                             const std::filesystem::path& run_dir, bool prepared) {
  const TemporaryDirectory folder;
  nlohmann::json request = setup_to_json(setup);
  if (!run_dir.empty()) request.erase("init");  // files of the first weights may be gone
  request["prepared"] = prepared;
  request["purpose"] = purpose_word(purpose);
  request["has_gpu"] = has_gpu;
  request["run_dir"] = run_dir.empty() ? "" : std::filesystem::absolute(run_dir).string();
  request["cache_dir"] =
      std::filesystem::absolute(cache_for(purpose, *setup.train, run_dir)).string();
  const std::filesystem::path file = folder.path() / "request.json";
  write_file_atomic(file, request.dump());
  std::vector<std::string> words{"facts"};
  if (!setup.plugin.empty()) words.insert(words.end(), {"--plugin", setup.plugin});
  words.push_back(file.string());
  return nlohmann::json::parse(ask_worker(words));
}

// Prepares a recipe whose code only the worker can load. The worker checks options, prepares data
// and counts parameters.
void prepare_in_worker(RunSetup& setup, Purpose purpose, bool has_gpu,
                       const std::filesystem::path& run_dir) {
  const nlohmann::json answer = ask_for_facts(setup, purpose, has_gpu, run_dir, false);
  setup.prepared.facts = facts_from_json(answer.at("facts"));
  setup.prepared.extra = answer.at("extra");
  for (const nlohmann::json& kept : answer.at("keep"))
    setup.prepared.keep.emplace_back(kept.get<std::string>());
  setup.memory = memory_from_json(answer.at("memory"));
}

// Counts the parameters of a recipe that was prepared in this process. The recipe's memory formula
// ignores frozen parameters, so their gradients and moments are subtracted.
void count_in_worker(RunSetup& setup, Purpose purpose, bool has_gpu,
                     const std::filesystem::path& run_dir) {
  const nlohmann::json answer = ask_for_facts(setup, purpose, has_gpu, run_dir, true);
  const Facts counted = facts_from_json(answer.at("facts"));
  Facts& facts = setup.prepared.facts;
  facts.parameters = counted.parameters;
  facts.frozen_parameters = counted.frozen_parameters;
  facts.groups = counted.groups;
  facts.optimized = counted.optimized;
  const TrainOptions& train = *setup.train;
  const auto frozen = static_cast<double>(facts.frozen_parameters);
  const double moments = optimizer_bytes_per_parameter(train);
  const double kept = train.precision == Precision::fp32 ? 4 : 2;
  setup.memory.fixed_bytes -= frozen * (weight_bytes_per_parameter(train) + moments - kept);
  setup.memory.optimizer_bytes -= frozen * moments;
}

// NVIDIA_TF32_OVERRIDE overrides all other settings of NVIDIA's libraries. "1" forces TF32, and "0"
// forbids it.
std::optional<bool> forced_tf32() {
  const char* const value = std::getenv("NVIDIA_TF32_OVERRIDE");
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value) != "0";
}

// Training keeps its precision, or reports that it cannot. A run that is only read may also be
// computed in fp32, the type of its weights.
void choose_precision(RunSetup& setup, Purpose purpose, const std::vector<Device>& devices) {
  TrainOptions& train = *setup.train;
  resolve_precision(train, setup.options->low_precision(), devices);
  const bool reads = purpose == Purpose::evaluate || purpose == Purpose::predict;
  if (!reads || is_native(train.precision, devices) || is_asked_for(train.table, "precision"))
    return;
  say(cat("computing in fp32: the run trained in ", precision_word(train.precision), ", which ",
          device_label(devices[0]), " does not have natively"));
  train.precision = Precision::fp32;
}

}  // namespace

std::filesystem::path cache_dir(const TrainOptions& options) {
  return std::filesystem::path(options.run.root) / ".cache";
}

void describe_plugin(const std::string& plugin) {
  if (plugin.empty()) return;
  const nlohmann::json all = parse_json(ask_worker({"describe", "--plugin", plugin}));
  if (!all.is_array())
    throw Error(cat("the worker's description of ", plugin, " cannot be read"),
                "build the plugin with the version of Lockstep that loads it");
  std::vector<std::string> known;
  for (const RecipeInfo& info : recipes()) known.push_back(info.name);
  remember_recipes(plugin, all);
  const auto ask = [plugin](const char* what, const nlohmann::json& request) {
    const TemporaryDirectory folder;
    const std::filesystem::path file = folder.path() / "request";
    std::string bytes;
    nlohmann::json::to_cbor(request, bytes);
    write_file_atomic(file, bytes);
    return ask_worker({what, "--plugin", plugin, file.string()});
  };
  for (const nlohmann::json& recipe : all)
    if (std::find(known.begin(), known.end(), recipe.at("name").get<std::string>()) == known.end())
      register_described_recipe(recipe, ask);
}

RunSetup read_options(const std::string& recipe, const std::string& plugin,
                      const std::vector<std::string>& files,
                      const std::vector<std::string>& assignments,
                      const std::vector<Device>& devices, const BareKeys& bare,
                      const FlagsHere& flags) {
  const std::string library = plugin.empty() ? "" : trust_plugin(plugin);
  describe_plugin(library);
  const bool has_gpu = !devices.empty() && devices[0].kind == DeviceKind::cuda;
  RunSetup setup = make_setup(recipe, library, has_gpu);
  const auto tables = setup.tables();
  const ExplainKey explain = explain_keys(recipe, assignments, devices, flags, files);
  apply_config(tables, paths(files), with_groups(setup, bare, assignments, explain),
               with_name_of(recipe, explain));
  prefer_given_batch(*setup.train, static_cast<std::int64_t>(devices.size()));
  return setup;
}

void check_read_options(RunSetup& setup, const OnMissingFile& on_missing) {
  note_missing(on_missing, [&] { find_first_weights(*setup.train); });
  check_options(setup, on_missing);
}

RunSetup resolve_options(const std::string& recipe, const std::string& plugin,
                         const std::vector<std::string>& files,
                         const std::vector<std::string>& assignments,
                         const std::vector<Device>& devices, const BareKeys& bare,
                         const FlagsHere& flags) {
  RunSetup setup = read_options(recipe, plugin, files, assignments, devices, bare, flags);
  check_read_options(setup);
  return setup;
}

void prepare(RunSetup& setup, Purpose purpose, const std::vector<Device>& devices,
             const std::filesystem::path& run_dir, const Say& tell) {
  choose_precision(setup, purpose, devices);
  setup.prepared = setup.options->prepare({.purpose = purpose,
                                           .cache_dir = cache_for(purpose, *setup.train, run_dir),
                                           .run_dir = run_dir,
                                           .say = tell});
  if (purpose == Purpose::predict && setup.plugin.empty()) return;
  Facts& facts = setup.prepared.facts;
  const bool trains = purpose == Purpose::train || purpose == Purpose::plan;
  if (trains && run_dir.empty() && !setup.train->init.from.empty())
    resolve_first_weights(setup, purpose);
  const bool has_gpu = !devices.empty() && devices[0].kind == DeviceKind::cuda;
  if (facts.train_samples == 0) return prepare_in_worker(setup, purpose, has_gpu, run_dir);
  facts.flops_per_sample = setup.options->flops_per_sample(facts).value_or(0);
  setup.memory = setup.options->memory(*setup.train, facts);
  if (trains && needs_model(*setup.train)) count_in_worker(setup, purpose, has_gpu, run_dir);
}

std::optional<LinkLimit> link_between(const std::vector<Device>& devices) {
  if (devices.size() < 2 || devices.front().kind != DeviceKind::cuda) return std::nullopt;
  const bool is_imagined = devices.front().uuid.empty();
  return is_imagined ? assumed_link(devices) : link_limit(devices, probe());
}

namespace {

// Names a device for --devices. If CUDA_VISIBLE_DEVICES is set, this is the UUID, because numbers
// count visible GPUs only.
std::string word_for(const Device& device) {
  const bool all_visible = std::getenv("CUDA_VISIBLE_DEVICES") == nullptr;
  return all_visible || device.uuid.empty() ? cat(device.index) : device.uuid;
}

// Notes how much faster several devices are than one, and whether there is hardly any gain.
void note_gain(RunSetup& setup) {
  Plan& plan = setup.plan;
  const std::optional<LinkLimit> link = link_between(plan.devices);
  if (!link) return;
  const std::optional<StepEstimate> step = estimate_step(plan, *setup.train, link);
  if (!step) return;
  const std::string alone = word_for(plan.devices[step->fastest]);
  const std::string gain = gain_text(*step, *link);
  const std::string warning = gain_warning(*step, plan, *setup.train, *link, alone);
  const std::optional<BuiltIn> built_in = setup.options->built_in();
  for (const std::string& note : {gain, warning})
    if (!note.empty())
      plan.notes.push_back(built_in ? cat(note, "; this is for ", built_in->what) : note);
}

}  // namespace

void plan_run(RunSetup& setup, const std::vector<Device>& devices, const EarlierMicro& earlier) {
  MeasuredMemory measured = known_memory(setup, devices);
  measured.shrunk_to = earlier.shrunk_to;
  measured.kept = earlier.kept;
  const auto plan = [&] {
    setup.plan = make_plan(*setup.train, setup.prepared.facts, setup.memory, devices, measured);
  };
  plan();
  const auto tightest = tightest_device(devices);
  std::string& advice = setup.prepared.facts.smaller_sample;
  const bool is_too_large = tightest && setup.plan.memory_needed_bytes > tightest->available_bytes;
  if (is_too_large && !setup.plan.memory.measured && !advice.empty()) {
    advice = sample_that_fits(setup, devices);
    plan();
  }
  note_gain(setup);
  const PrecisionPlan& precision = setup.plan.precision;
  if (const auto forced = forced_tf32();
      precision.type == Precision::fp32 && forced && *forced != precision.tf32)
    setup.plan.compute.mfu_unknown =
        cat("the variable NVIDIA_TF32_OVERRIDE ", *forced ? "forces" : "forbids", " TF32");
}

void prepare_and_plan(RunSetup& setup, Purpose purpose, const std::vector<Device>& devices,
                      const std::filesystem::path& run_dir, const Say& tell) {
  prepare(setup, purpose, devices, run_dir, tell);
  plan_run(setup, devices);
}

RunSetup resolve_resume(const RunDir& run, const std::vector<std::string>& files,
                        const std::vector<std::string>& assignments, const std::string& plugin,
                        const BareKeys& bare) {
  nlohmann::json record = run.record();
  if (!plugin.empty()) {
    record["plugin"] = trust_plugin(plugin);
  } else if (const std::string named = text_or(record, "plugin", ""); !named.empty()) {
    require_trusted_plugin(named);
  }
  describe_plugin(text_or(record, "plugin", ""));
  RunSetup setup = setup_from_json(record);
  const auto tables = setup.tables();
  nlohmann::json before = record.at("config");
  // The global batch and the exact-mode micro-batch stay those of the run, whatever a preset or a
  // default says. The other sizes follow from recorded_batch once the devices are known.
  BatchSizes& batch = setup.train->batch;
  BatchSizes recorded = batch;
  const OptionTable& engine = setup.train->table;
  const std::int64_t global = setup.plan.batch.global;
  const bool tried_out = batch.micro == micro_auto;
  const std::int64_t micro = setup.train->exact ? setup.plan.batch.micro
                             : tried_out        ? micro_auto
                                                : 0;
  batch = {.global = global, .micro = micro, .accumulation = 0, .micro_changes = {}};
  before["batch.global"] = global;
  before["batch.micro"] = micro;
  if (setup.plan.batch.norm_rows > 0)
    before["norm.rows"] = setup.train->norm.rows = setup.plan.batch.norm_rows;
  // these limits applied to the last start only
  setup.train->stop.after = setup.train->stop.reserve = {};
  const bool reads = !bare.groups.empty() && !bare.options_first;
  const FlagsHere flags = reads ? FlagsHere{.names = {"--devices", "--best"},
                                            .group = bare.groups.front(),
                                            .of_run = bare.groups.front()}
                                : FlagsHere{.names = {"--devices"}, .of_run = "resume"};
  const ExplainKey explain = explain_keys(setup.recipe, assignments, {}, flags, files);
  apply_config(tables, paths(files), with_groups(setup, bare, assignments, explain),
               with_name_of(setup.recipe, explain));
  if (batch.global == 0 || !engine.is_given("batch.global")) batch.global = global;
  if (!is_asked_for(engine, "batch.micro")) batch.micro = micro;
  if (!is_asked_for(engine, "batch.accumulation")) batch.accumulation = 0;
  if (is_asked_for(engine, "batch.micro_changes")) recorded.micro_changes = batch.micro_changes;
  if (!setup.train->exact && !shares_out_anew(engine, batch, recorded))
    setup.recorded_batch = recorded;
  if (bare.groups == std::vector<std::string>{"predict"})
    pass_on_to_predict(setup.options->table, before);
  pass_on_to_epochs(setup, before);
  check_frozen(setup, before);
  take_from_record(setup.options->table, before);
  check_options(setup);
  return setup;
}

}  // namespace lockstep::cli
