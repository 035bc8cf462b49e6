// Lists how a difference in an engine option affects a comparison.
#pragma once

#include "tools/report/facts/facts.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace lockstep {

struct OptionKind {
  // "optimizer.lr", or "optimizer." for the options of that group without a row of their own
  std::string_view key;
  // Not set if the option changes neither result nor speed, or if another fact shows its effect.
  std::optional<FactKind> kind{};
};

// Returns the row of the key, or else the row of its group. Returns null if neither the key nor its
// group has a row, as for options of a recipe.
const OptionKind* engine_option(std::string_view key);

// Returns the kind of any option. Options of recipes are `work`. Returns nothing if a comparison
// leaves the option out.
std::optional<FactKind> option_kind(std::string_view key);

// Whether a parameter of any program is a seed. The last word of its name decides, as in "seed",
// "used.bagging_seed" and "random_state".
bool is_seed(std::string_view name);

// Whether a step costs the same time, memory and energy with both values of an option of the kind
// `work`. The results may differ. A value is a list if the trials of a side differ.
bool step_costs_the_same(std::string_view key, const nlohmann::json& a, const nlohmann::json& b);

}  // namespace lockstep
