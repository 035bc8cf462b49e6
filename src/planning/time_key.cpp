#include "planning/time_key.h"

#include "planning/memory/measured_memory.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace lockstep {
namespace {

// The kinds of devices on which times depend: GPUs by name, and CPU ranks by processor and threads.
// With GPUs, the processor has little influence.
nlohmann::json device_kinds(const std::vector<Device>& devices, const std::string& cpu) {
  nlohmann::json kinds = nlohmann::json::array();
  for (const Device& device : devices) {
    if (device.kind == DeviceKind::cuda)
      kinds.push_back(device.name);
    else
      kinds.push_back({cpu, device.threads});
  }
  return kinds;
}

bool tells_a_place(const OptionInfo& option) { return option.spec.is_path; }

// Whether the option selects the validation samples. A step and an evaluation take the same time
// for any selection.
bool tells_the_split(const OptionInfo& option) {
  constexpr std::array<std::string_view, 3> options{"data.valid", "data.fold", "data.split_seed"};
  return std::any_of(options.begin(), options.end(),
                     [&](std::string_view beginning) { return option.key.starts_with(beginning); });
}

bool tells_which_data(const OptionInfo& option) {
  return tells_a_place(option) || tells_the_split(option);
}

}  // namespace

nlohmann::json training_time_key(const RunSetup& setup, const std::string& cpu) {
  nlohmann::json key = memory_key(setup);
  nlohmann::json& options = key["options"];
  for (const OptionInfo& option : setup.options->table.options())
    if (tells_which_data(option)) options.erase(option.key);
  for (const OptionInfo& option : setup.train->table.options())
    if (option.key.starts_with("eval.every_") || tells_a_place(option)) options.erase(option.key);
  const BatchPlan& batch = setup.plan.batch;
  key["batch"] = {batch.global, batch.micro, batch.accumulation, setup.plan.recomputed_blocks};
  key["devices"] = device_kinds(setup.plan.devices, cpu);
  return key;
}

nlohmann::json start_time_key(const RunSetup& setup, const std::string& cpu) {
  return {{"start_of", setup.recipe},
          {"plugin", setup.plugin},
          {"devices", device_kinds(setup.plan.devices, cpu)}};
}

nlohmann::json prediction_time_key(const RunSetup& setup, const std::vector<Device>& devices,
                                   double item_bytes, const std::string& cpu) {
  nlohmann::json options = setup.options->table.to_json();
  for (const OptionInfo& option : setup.options->table.options())
    if (tells_which_data(option) || option.key == input_key || option.key == out_key)
      options.erase(option.key);
  return {{"recipe", setup.recipe},
          {"plugin", setup.plugin},
          {"options", std::move(options)},
          {"parameters", setup.prepared.facts.parameters},
          {"item_size", item_bytes > 0 ? std::lround(std::log2(item_bytes)) : -1},
          {"devices", device_kinds(devices, cpu)}};
}

}  // namespace lockstep
