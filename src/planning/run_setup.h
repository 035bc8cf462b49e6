// A run as the tool resolved it and as run.json hands it to the workers: options, facts, plan.
#pragma once

#include "planning/plan.h"
#include "planning/recipe_info.h"

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace lockstep {

struct RunSetup {
  std::string recipe;
  std::string plugin;  // path, or ""
  std::unique_ptr<TrainOptions> train;
  std::unique_ptr<RecipeOptions> options;  // the recipe's own options
  Prepared prepared;
  // The sizes in the record of a run that continues, if nobody asks for others; not written.
  std::optional<BatchSizes> recorded_batch;
  // The recipe's formula, for a rank that shares nothing; not in the record.
  MemoryEstimate memory;
  Plan plan;
  nlohmann::json
      times;  // what is known of how long it takes (runtime/run/progress/part_times.h); or null
  nlohmann::json
      init;  // the files that init.from means (runtime/run/checkpoint/weight_source.h); or null

  std::array<OptionTable*, 2> tables() const { return {&train->table, &options->table}; }
};

// The engine's and the recipe's options with their defaults. The recipe must be registered.
RunSetup make_setup(const std::string& recipe, const std::string& plugin, bool has_gpu);

// {"recipe", "plugin", "config", "facts", "extra", "plan"}: the part of run.json that workers read.
nlohmann::json setup_to_json(const RunSetup& setup);
// The inverse; throws Error on a record that is damaged or of another version.
RunSetup setup_from_json(const nlohmann::json& record);

Device device_from_json(const nlohmann::json& json);  // reads the result of to_json(device)

nlohmann::json to_json(const Facts& facts);
Facts facts_from_json(const nlohmann::json& json);

// Reads the result of to_json(estimate). Records of earlier versions hold fewer values.
MemoryEstimate memory_from_json(const nlohmann::json& json);

}  // namespace lockstep
