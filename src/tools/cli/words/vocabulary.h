// The words that a command with a recipe accepts: options, other programs' names for them, and
// values in force.
#pragma once

#include "core/base/error.h"
#include "core/config/options.h"
#include "planning/options/no_effect.h"
#include "planning/options/train_options.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep::cli {

struct Vocabulary {
  std::vector<OptionInfo> options;  // those of the recipe, then of the engine
  std::vector<Synonym> synonyms;    // in the same order
  bool is_of_engine = true;         // false: for a recipe that trains without the engine

  void add(const OptionTable& table);
  const OptionInfo* find(const std::string& key) const;  // null if there is none
  bool has(const std::string& key) const { return find(key) != nullptr; }
  std::vector<std::string> keys() const;
};

// recipe: "" if unknown.
Vocabulary vocabulary_of(const std::string& recipe);

// Recipes of the engine, and with `direct` also those that train without it.
std::vector<std::string> recipe_names(bool direct);
bool is_recipe_name(const std::string& word);
// Known recipes with that option, with and without the engine.
std::vector<std::string> recipes_with(std::string_view key);

// Returns those of `keys` that are `name` in a group: predict.threshold for threshold.
std::vector<std::string> keys_in_a_group(const std::vector<std::string>& keys,
                                         std::string_view name);

// The engine's options after the typed words are applied: first the preset that they name, or else
// the recipe's own, and then each word that is an option with a valid value.
std::unique_ptr<TrainOptions> options_in_force(const std::string& recipe,
                                               std::span<const TypedName> typed, bool has_gpu);

// Why the recipe refuses the typed options, as far as their values alone show it; nothing if it
// accepts them. Files need not exist yet.
std::optional<Error> refusal_of(const std::string& recipe, std::span<const TypedName> typed,
                                bool has_gpu);

// The recipe's explanation, if an option has no effect together with the other typed options.
std::optional<NoEffect> without_effect(const std::string& recipe, std::span<const TypedName> typed);

}  // namespace lockstep::cli
