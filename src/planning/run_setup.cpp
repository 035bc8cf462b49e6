// Converts a resolved run to its record and back.
#include "planning/run_setup.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "planning/compute.h"

#include <algorithm>
#include <climits>
#include <utility>

namespace lockstep {
namespace {

constexpr const char* start_anew = "start a new run, or use the version of Lockstep that wrote it";

[[noreturn]] void damaged(const std::string& why) {
  throw Error(cat("the record of the run is damaged: ", why), start_anew);
}

// A number with a fraction, or beyond 64 bits, is refused.
std::int64_t whole_number(const nlohmann::json& json, const char* key) {
  const nlohmann::json& value = json.at(key);
  const bool whole = value.is_number_integer();
  if (!whole || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX))
    damaged(cat(key, " is no whole number"));
  return value.get<std::int64_t>();
}

// Reads a count, which must be neither negative nor so large that sums of counts overflow.
std::int64_t count(const nlohmann::json& json, const char* key) {
  const std::int64_t number = whole_number(json, key);
  if (number < 0 || number > std::int64_t{1} << 53) damaged(cat(key, " is ", number));
  return number;
}

std::int64_t count_or(const nlohmann::json& json, const char* key, std::int64_t standard) {
  return json.contains(key) ? count(json, key) : standard;
}

std::int64_t count_or_0(const nlohmann::json& json, const char* key) {
  return count_or(json, key, 0);
}

Schedule schedule_from_json(const nlohmann::json& json) {
  const std::string name = json.at("kind");
  Schedule schedule{.kind = find_schedule_kind(name),
                    .base_lr = json.at("base_lr"),
                    .min_lr = json.at("min_lr"),
                    .warmup_steps = json.at("warmup_steps"),
                    .total_steps = json.at("total_steps")};
  if (schedule.kind == nullptr) damaged(cat("it names an unknown schedule: ", name));
  for (const ScheduleParameter& parameter : schedule.kind->parameters)
    schedule.parameters.push_back(json.at(record_key(parameter)));
  return schedule;
}

}  // namespace

Device device_from_json(const nlohmann::json& json) {
  Device device;
  device.uuid = json.at("uuid");
  device.name = json.at("name");
  device.memory_bytes = static_cast<std::uint64_t>(count(json, "memory_bytes"));
  device.threads = static_cast<int>(std::min<std::int64_t>(count(json, "threads"), INT_MAX));
  // The form is "9.0". Records of earlier versions lack it.
  const auto capability = split(json.value("compute_capability", "0.0"), '.');
  device.compute_major = whole_number<int>(capability.at(0)).value_or(0);
  device.compute_minor = whole_number<int>(capability.back()).value_or(0);
  const std::string label = json.at("device");
  device.kind = label.starts_with("cuda") ? DeviceKind::cuda : DeviceKind::cpu;
  if (const std::size_t colon = label.find(':'); colon != std::string::npos)
    device.index = whole_number<int>(label.substr(colon + 1)).value_or(device.index);
  return device;
}

MemoryEstimate memory_from_json(const nlohmann::json& json) {
  return {.fixed_bytes = json.value("fixed_bytes", 0.0),
          .per_sample_bytes = json.value("per_sample_bytes", 0.0),
          .optimizer_bytes = json.value("optimizer_bytes", 0.0),
          .blocks = count_or_0(json, "blocks"),
          .block_bytes = json.value("block_bytes", 0.0),
          .recomputed_block_bytes = json.value("recomputed_block_bytes", 0.0),
          .loss_bytes = json.value("loss_bytes", 0.0),
          .loss_piece_bytes = json.value("loss_piece_bytes", 0.0),
          .backward_bytes = json.value("backward_bytes", 0.0),
          .large_samples = count_or_0(json, "large_samples"),
          .large_size = json.value("large_size", 0.0),
          .evaluation_bytes = json.value("evaluation_bytes", 0.0),
          .measured = json.value("measured", false),
          .tried_micro = count_or_0(json, "tried_micro")};
}

namespace {

// Checks that no divisor is 0, and that required values exist. The sizes need not divide each
// other, because a run may be evaluated on other devices than planned.
void check_plan(const Plan& plan) {
  const BatchPlan& batch = plan.batch;
  if (batch.world_size == 0 || batch.micro == 0 || batch.accumulation == 0 || batch.global == 0 ||
      batch.rows_per_sample == 0)
    damaged("a size of its batch is 0");
  if (plan.devices.empty()) damaged("it has no devices");
  if (const auto fault = schedule_fault(plan.schedule))
    damaged(cat("its schedule cannot be: ", fault->what()));
}

Plan plan_from_json(const nlohmann::json& json) {
  Plan plan;
  const nlohmann::json& batch = json.at("batch");
  plan.batch = {.world_size = count(batch, "world_size"),
                .micro = count(batch, "micro"),
                .accumulation = count(batch, "accumulation"),
                .global = count(batch, "global"),
                .rows_per_sample = count_or(batch, "rows_per_sample", 1),
                .fixed_micro = batch.value("fixed_micro", false),
                .norm_rows = count_or_0(batch, "norm_rows")};
  for (const nlohmann::json& device : json.at("devices"))
    plan.devices.push_back(device_from_json(device));
  plan.train_samples = count(json, "train_samples");
  plan.valid_samples = count(json, "valid_samples");
  plan.epoch_size = count_or(json, "epoch_size", plan.train_samples);
  plan.steps_per_epoch = count(json, "steps_per_epoch");
  plan.total_steps = count(json, "total_steps");
  plan.schedule = schedule_from_json(json.at("schedule"));
  plan.memory = memory_from_json(json.value("memory", nlohmann::json::object()));
  // Records of earlier versions lack the memory that sharding would save.
  const double ranks = static_cast<double>(plan.batch.world_size);
  plan.sharding_saves_bytes =
      json.value("memory", nlohmann::json::object())
          .value("sharding_saves_bytes", plan.memory.optimizer_bytes * (1 - 1 / ranks));
  plan.recomputed_blocks = count_or_0(json, "recomputed_blocks");
  plan.unit = json.at("unit");
  plan.units_per_step = json.at("units_per_step");
  plan.compute = compute_from_json(json.value("compute", nlohmann::json::object()));
  if (const auto exact = json.find("exact"); exact != json.end() && exact->is_object())
    plan.exact = ExactSum{.leaf_samples = count(*exact, "leaf_samples"),
                          .leaves = count(*exact, "leaves"),
                          .partial_sums = count(*exact, "partial_sums"),
                          .buffers = count(*exact, "buffers"),
                          .sent_bytes = exact->at("sent_bytes")};
  check_plan(plan);
  return plan;
}

}  // namespace

namespace {

constexpr std::pair<ParameterUse, const char*> uses[] = {{ParameterUse::usual, "usual"},
                                                         {ParameterUse::embedding, "embedding"},
                                                         {ParameterUse::head, "head"}};

nlohmann::json to_json(const OptimizedParameter& one) {
  nlohmann::json json{{"name", one.name}, {"sizes", one.sizes}, {"tied", one.tied}};
  if (one.guessed) json["guessed"] = true;
  for (const auto& [use, word] : uses)
    if (use == one.use) json["use"] = word;
  return json;
}

OptimizedParameter optimized_from_json(const nlohmann::json& json) {
  OptimizedParameter one{.name = json.at("name"),
                         .sizes = {},
                         .tied = json.at("tied"),
                         .guessed = json.value("guessed", false)};
  double elements = 1;
  for (const nlohmann::json& size : json.at("sizes")) {
    one.sizes.push_back(count({{"size", size}}, "size"));
    elements *= static_cast<double>(one.sizes.back());
  }
  if (elements > static_cast<double>(std::int64_t{1} << 53))
    damaged(cat("the sizes of ", one.name, " are too large"));
  for (const auto& [use, word] : uses)
    if (json.at("use") == word) one.use = use;
  return one;
}

}  // namespace

nlohmann::json to_json(const Facts& facts) {
  nlohmann::json groups = nlohmann::json::array();
  for (const GroupCount& group : facts.groups) groups.push_back(to_json(group));
  nlohmann::json json{{"groups", groups},
                      {"train_samples", facts.train_samples},
                      {"valid_samples", facts.valid_samples},
                      {"evaluation_passes", facts.evaluation_passes},
                      {"epoch_size", facts.epoch_size},
                      {"rows_per_sample", facts.rows_per_sample},
                      {"unit", facts.unit},
                      {"units_per_sample", facts.units_per_sample},
                      {"smaller_sample", facts.smaller_sample},
                      {"parameters", facts.parameters},
                      {"frozen_parameters", facts.frozen_parameters},
                      {"preferred_micro", facts.preferred_micro},
                      {"fixed_micro", facts.fixed_micro},
                      {"batch_norm", facts.batch_norm},
                      {"torch_batch_norm", facts.torch_batch_norm},
                      {"default_global", facts.default_global},
                      {"flops_per_sample", facts.flops_per_sample}};
  for (const OptimizedParameter& one : facts.optimized) json["optimized"].push_back(to_json(one));
  return json;
}

Facts facts_from_json(const nlohmann::json& json) {
  Facts facts{.train_samples = count(json, "train_samples"),
              .valid_samples = count(json, "valid_samples"),
              .evaluation_passes = json.value("evaluation_passes", 0.0),
              .epoch_size = count_or_0(json, "epoch_size"),
              .rows_per_sample = std::max<std::int64_t>(1, count_or(json, "rows_per_sample", 1)),
              .unit = json.at("unit"),
              .units_per_sample = json.at("units_per_sample"),
              .smaller_sample = json.value("smaller_sample", ""),
              .parameters = count(json, "parameters"),
              .frozen_parameters = count_or_0(json, "frozen_parameters"),
              .batch_norm = json.value("batch_norm", false),
              .torch_batch_norm = json.value("torch_batch_norm", ""),
              .preferred_micro = count(json, "preferred_micro"),
              .fixed_micro = count_or_0(json, "fixed_micro"),
              .default_global = count(json, "default_global"),
              .flops_per_sample = json.value("flops_per_sample", 0.0)};
  for (const nlohmann::json& group : json.value("groups", nlohmann::json::array()))
    facts.groups.push_back({.pattern = group.at("pattern"),
                            .words = group.at("words"),
                            .parameters = count(group, "parameters")});
  for (const nlohmann::json& one : json.value("optimized", nlohmann::json::array()))
    facts.optimized.push_back(optimized_from_json(one));
  return facts;
}

RunSetup make_setup(const std::string& recipe, const std::string& plugin, bool has_gpu) {
  RunSetup setup;
  setup.recipe = recipe;
  setup.plugin = plugin;
  setup.train = std::make_unique<TrainOptions>();
  setup.options = find_recipe(recipe).make_options();
  setup.options->defaults(*setup.train, has_gpu);
  return setup;
}

nlohmann::json setup_to_json(const RunSetup& setup) {
  nlohmann::json config = nlohmann::json::object();
  for (OptionTable* table : setup.tables()) config.update(table->to_json());
  nlohmann::json record{{"recipe", setup.recipe},
                        {"plugin", setup.plugin},
                        {"config", config},
                        {"facts", to_json(setup.prepared.facts)},
                        {"extra", setup.prepared.extra},
                        {"plan", to_json(setup.plan)}};
  if (!setup.init.is_null()) record["init"] = setup.init;
  if (!setup.times.is_null()) record["times"] = setup.times;
  return record;
}

RunSetup setup_from_json(const nlohmann::json& record) {
  try {
    RunSetup setup = make_setup(record.at("recipe"), record.value("plugin", ""), false);
    const auto tables = setup.tables();
    apply_json(tables, record.at("config"));
    // Before the option existed, precision was fp32.
    if (setup.train->precision == Precision::automatic) setup.train->precision = Precision::fp32;
    setup.prepared.facts = facts_from_json(record.at("facts"));
    setup.prepared.extra = record.at("extra");
    if (setup.prepared.extra.is_null()) setup.prepared.extra = nlohmann::json::object();
    if (!setup.prepared.extra.is_object())
      throw Error("run.json is damaged or of another version: its extra is no object", start_anew);
    setup.plan = plan_from_json(record.at("plan"));
    if (record.contains("init")) setup.init = record["init"];
    if (record.contains("times")) setup.times = record["times"];
    return setup;
  } catch (const nlohmann::json::exception& error) {
    throw Error(cat("run.json is damaged or of another version: ", error.what()), start_anew);
  }
}

}  // namespace lockstep
