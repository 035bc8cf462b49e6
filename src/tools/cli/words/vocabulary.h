// The names that a command with a recipe knows: its options, and other programs' names for them.
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
  std::vector<OptionInfo> options;  // options of the recipe, then options of the engine
  std::vector<Synonym> synonyms;    // synonyms of the recipe, then synonyms of the engine
  bool is_of_engine = true;         // whether the recipe trains with the engine

  void add(const OptionTable& table);
  const OptionInfo* find(const std::string& key) const;  // null if there is none
  bool has(const std::string& key) const { return find(key) != nullptr; }
  std::vector<std::string> keys() const;
};

// recipe: may be "" if it is unknown.
Vocabulary vocabulary_of(const std::string& recipe);

// Names of recipes that use the engine, and with `direct` also names of recipes that train without
// it.
std::vector<std::string> recipe_names(bool direct);
bool is_recipe_name(const std::string& word);
// Names of known recipes that have the option, with and without the engine.
std::vector<std::string> recipes_with(std::string_view key);

// Returns the keys whose name within a group is `name`. For example, predict.threshold is returned
// for threshold.
std::vector<std::string> keys_in_a_group(const std::vector<std::string>& keys,
                                         std::string_view name);

// Returns the engine's options with the typed words applied. First the typed preset is applied, or
// else the default preset of the recipe. Then each word is applied that is an option with a valid
// value.
std::unique_ptr<TrainOptions> options_in_force(const std::string& recipe,
                                               std::span<const TypedName> typed, bool has_gpu);

// Returns why the recipe refuses the typed options, or nothing if it accepts them. Only the values
// are checked; files need not exist yet.
std::optional<Error> refusal_of(const std::string& recipe, std::span<const TypedName> typed,
                                bool has_gpu);

// Returns the explanation if an option has no effect together with the other typed options. Returns
// nothing if all of them have an effect.
std::optional<NoEffect> without_effect(const std::string& recipe, std::span<const TypedName> typed);

}  // namespace lockstep::cli
