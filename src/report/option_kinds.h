// What a difference in an option of the engine means for a comparison.
#pragma once

#include "report/facts.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace lockstep {

struct OptionKind {
  std::string_view key;            // "optimizer.lr", or "optimizer." for a whole group
  std::optional<FactKind> kind{};  // nothing: it changes neither result nor speed, or another fact
                                   // says what became of it
};

// The row of the key, else that of its group, else null: an option of a recipe.
const OptionKind* engine_option(std::string_view key);

// Of any option: those of recipes are work. Nothing: leave it out.
std::optional<FactKind> option_kind(std::string_view key);

// Whether a step costs the same time, memory and energy with both values of an option that is
// work, whatever comes out of it. Of a side whose trials differ the value is a list.
bool step_costs_the_same(std::string_view key, const nlohmann::json& a, const nlohmann::json& b);

}  // namespace lockstep
