// The effect of a difference in an engine option on a comparison.
#pragma once

#include "tools/report/facts/facts.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace lockstep {

struct OptionKind {
  std::string_view key;            // "optimizer.lr", or "optimizer." for a whole group
  std::optional<FactKind> kind{};  // nothing: it changes neither result nor speed, or another fact
                                   // shows its effect
};

// Returns the row of the key, else that of its group, else null (an option of a recipe).
const OptionKind* engine_option(std::string_view key);

// Returns the kind of any option; options of recipes are work. Nothing means: leave it out.
std::optional<FactKind> option_kind(std::string_view key);

// Whether a parameter of any program is a seed, by its last word: "seed", "used.bagging_seed",
// "random_state".
bool is_seed(std::string_view name);

// Whether a step costs the same time, memory and energy with both values of a work option, whether
// or not the results differ. The value is a list for a side whose trials differ.
bool step_costs_the_same(std::string_view key, const nlohmann::json& a, const nlohmann::json& b);

}  // namespace lockstep
