#include "plan/memory_key.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace lockstep {
namespace {

// Keys, or beginnings of keys.
constexpr std::array<std::string_view, 23> costs_nothing = {"seed",
                                                            "preset",
                                                            "on_nan",
                                                            "restart",
                                                            "batch.",
                                                            "schedule.",
                                                            "check.",
                                                            "stop.",
                                                            "checkpoint.",
                                                            "run.",
                                                            "log.",
                                                            "profile.",
                                                            "data.shuffle",
                                                            "data.threads",
                                                            "eval.every_steps",
                                                            "eval.at_start",
                                                            "optimizer.lr",
                                                            "optimizer.weight_decay",
                                                            "optimizer.beta",
                                                            "optimizer.eps",
                                                            "optimizer.scale_lr",
                                                            "optimizer.base",
                                                            "optimizer.decay_"};

bool counts(std::string_view key) {
  return std::none_of(costs_nothing.begin(), costs_nothing.end(),
                      [&](std::string_view free) { return key.starts_with(free); });
}

}  // namespace

nlohmann::json memory_key(const RunSetup& setup) {
  nlohmann::json options = nlohmann::json::object();
  const nlohmann::json recipe = setup.options->table.to_json();
  for (const auto& [key, value] : recipe.items())
    if (!key.starts_with("predict.")) options[key] = value;
  const nlohmann::json engine = setup.train->table.to_json();
  for (const auto& [key, value] : engine.items())
    if (counts(key)) options[key] = value;
  const Facts& facts = setup.prepared.facts;
  return {{"recipe", setup.recipe},
          {"plugin", setup.plugin},
          {"options", std::move(options)},
          {"parameters", facts.parameters},
          {"frozen_parameters", facts.frozen_parameters},
          {"units_per_sample", facts.units_per_sample},
          {"flops_per_sample", facts.flops_per_sample}};
}

}  // namespace lockstep
