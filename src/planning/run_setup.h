// A resolved run: its options, facts and plan. The tool writes it to run.json, and the workers read
// it.
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
  std::string plugin;  // path of the plugin; may be empty
  std::unique_ptr<TrainOptions> train;
  std::unique_ptr<RecipeOptions> options;  // the recipe's own options
  Prepared prepared;
  // For a resumed run: the batch sizes in its record. Nothing if the command changes batch.micro or
  // batch.accumulation, or if exact = true. This member is not recorded.
  std::optional<BatchSizes> recorded_batch;
  // The estimate of the recipe's formula without shard_optimizer. This member is not recorded.
  MemoryEstimate memory;
  Plan plan;
  nlohmann::json
      times;  // known times of the run's parts (runtime/run/progress/part_times.h), or null
  nlohmann::json init;  // the files of init.from (runtime/run/checkpoint/weight_source.h), or null

  std::array<OptionTable*, 2> tables() const { return {&train->table, &options->table}; }
};

// Returns the default options of the engine and the recipe. The recipe must be registered.
RunSetup make_setup(const std::string& recipe, const std::string& plugin, bool has_gpu);

// {"recipe", "plugin", "config", "facts", "extra", "plan"}, and "init" and "times" if they are
// known. Workers read this part of run.json.
nlohmann::json setup_to_json(const RunSetup& setup);
// The inverse of setup_to_json. Throws Error for a record that is damaged or of another version.
RunSetup setup_from_json(const nlohmann::json& record);

Device device_from_json(const nlohmann::json& json);  // reads the result of to_json(device)

nlohmann::json to_json(const Facts& facts);
Facts facts_from_json(const nlohmann::json& json);

// Reads the result of to_json(estimate). Values that older records lack are 0.
MemoryEstimate memory_from_json(const nlohmann::json& json);

}  // namespace lockstep
