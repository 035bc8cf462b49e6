// Between a resolved run and its record.
#include "plan/run_setup.h"

#include "base/error.h"
#include "base/text.h"
#include "plan/compute.h"

#include <utility>

namespace lockstep {
namespace {

ScheduleKind kind_named(const std::string& name) {
  for (const auto& [kind, known] : EnumNames<ScheduleKind>::value)
    if (known == name) return kind;
  throw Error(cat("run.json names an unknown schedule: ", name));
}

Schedule schedule_from_json(const nlohmann::json& json) {
  return {.kind = kind_named(json.at("kind")),
          .base_lr = json.at("base_lr"),
          .min_lr = json.at("min_lr"),
          .warmup_steps = json.at("warmup_steps"),
          .total_steps = json.at("total_steps"),
          .power = json.at("power"),
          .every_steps = json.at("every_steps"),
          .gamma = json.at("gamma"),
          .period_steps = json.at("period_steps"),
          .period_mult = json.at("period_mult")};
}

}  // namespace

Device device_from_json(const nlohmann::json& json) {
  Device device;
  device.uuid = json.at("uuid");
  device.name = json.at("name");
  device.memory_bytes = json.at("memory_bytes");
  device.threads = json.at("threads");
  const std::string label = json.at("device");
  device.kind = label.starts_with("cuda") ? DeviceKind::cuda : DeviceKind::cpu;
  if (const std::size_t colon = label.find(':'); colon != std::string::npos)
    device.index = std::atoi(label.c_str() + colon + 1);
  return device;
}

namespace {

// Records of earlier versions hold less; it serves messages only.
MemoryEstimate memory_from_json(const nlohmann::json& json) {
  return {.fixed_bytes = json.value("fixed_bytes", 0.0),
          .per_sample_bytes = json.value("per_sample_bytes", 0.0),
          .optimizer_bytes = json.value("optimizer_bytes", 0.0),
          .blocks = json.value("blocks", std::int64_t{0}),
          .block_bytes = json.value("block_bytes", 0.0),
          .recomputed_block_bytes = json.value("recomputed_block_bytes", 0.0),
          .measured = json.value("measured", false),
          .tried_micro = json.value("tried_micro", std::int64_t{0})};
}

Plan plan_from_json(const nlohmann::json& json) {
  Plan plan;
  const nlohmann::json& batch = json.at("batch");
  plan.batch = {.world_size = batch.at("world_size"),
                .micro = batch.at("micro"),
                .accumulation = batch.at("accumulation"),
                .global = batch.at("global")};
  for (const nlohmann::json& device : json.at("devices"))
    plan.devices.push_back(device_from_json(device));
  plan.train_samples = json.at("train_samples");
  plan.valid_samples = json.at("valid_samples");
  plan.steps_per_epoch = json.at("steps_per_epoch");
  plan.total_steps = json.at("total_steps");
  plan.schedule = schedule_from_json(json.at("schedule"));
  plan.memory = memory_from_json(json.value("memory", nlohmann::json::object()));
  plan.recomputed_blocks = json.value("recomputed_blocks", std::int64_t{0});
  plan.unit = json.at("unit");
  plan.units_per_step = json.at("units_per_step");
  plan.compute = compute_from_json(json.value("compute", nlohmann::json::object()));
  if (const auto exact = json.find("exact"); exact != json.end() && exact->is_object())
    plan.exact = ExactSum{.grain = exact->at("grain"),
                          .grains = exact->at("grains"),
                          .partial_sums = exact->at("partial_sums"),
                          .buffers = exact->at("buffers"),
                          .sent_bytes = exact->at("sent_bytes")};
  return plan;
}

}  // namespace

nlohmann::json to_json(const Facts& facts) {
  return {{"train_samples", facts.train_samples},
          {"valid_samples", facts.valid_samples},
          {"unit", facts.unit},
          {"units_per_sample", facts.units_per_sample},
          {"parameters", facts.parameters},
          {"preferred_micro", facts.preferred_micro},
          {"default_global", facts.default_global},
          {"flops_per_sample", facts.flops_per_sample}};
}

Facts facts_from_json(const nlohmann::json& json) {
  return {.train_samples = json.at("train_samples"),
          .valid_samples = json.at("valid_samples"),
          .unit = json.at("unit"),
          .units_per_sample = json.at("units_per_sample"),
          .parameters = json.at("parameters"),
          .preferred_micro = json.at("preferred_micro"),
          .default_global = json.at("default_global"),
          .flops_per_sample = json.value("flops_per_sample", 0.0)};
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
  return {{"recipe", setup.recipe},
          {"plugin", setup.plugin},
          {"config", config},
          {"facts", to_json(setup.prepared.facts)},
          {"extra", setup.prepared.extra},
          {"plan", to_json(setup.plan)}};
}

RunSetup setup_from_json(const nlohmann::json& record) {
  try {
    RunSetup setup = make_setup(record.at("recipe"), record.value("plugin", ""), false);
    const auto tables = setup.tables();
    apply_json(tables, record.at("config"));
    setup.prepared.facts = facts_from_json(record.at("facts"));
    setup.prepared.extra = record.at("extra");
    setup.plan = plan_from_json(record.at("plan"));
    return setup;
  } catch (const nlohmann::json::exception& error) {
    throw Error(cat("run.json is damaged or of another version: ", error.what()),
                "start a new run, or use the version of Lockstep that wrote it");
  }
}

}  // namespace lockstep
