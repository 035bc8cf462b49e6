// What a command that names a recipe can be told: options, what other programs call them, and what
// counts already.
#pragma once

#include "config/options.h"
#include "plan/no_effect.h"
#include "plan/train_options.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep::cli {

struct Vocabulary {
  std::vector<OptionInfo> options;  // of the recipe, then of the engine
  std::vector<Synonym> synonyms;    // likewise
  bool is_of_engine = true;         // false: of a recipe that trains without it

  void add(const OptionTable& table);
  const OptionInfo* find(const std::string& key) const;  // null: there is none
  bool has(const std::string& key) const { return find(key) != nullptr; }
  std::vector<std::string> keys() const;
};

// recipe: "" where none is known.
Vocabulary vocabulary_of(const std::string& recipe);

// Of the engine, and with `direct` those that train without it too.
std::vector<std::string> recipe_names(bool direct);
bool is_recipe_name(const std::string& word);
// Of the recipes that are known, with and without the engine.
std::vector<std::string> recipes_with(std::string_view key);

// The engine's options as they count with what is typed: the preset that it names, or the recipe's
// own, then its words that are options with a value that can be.
std::unique_ptr<TrainOptions> options_in_force(const std::string& recipe,
                                               std::span<const TypedName> typed, bool has_gpu);

// What the recipe's own rules say of an option that does nothing beside the others that are typed,
// if they do.
std::optional<NoEffect> without_effect(const std::string& recipe, std::span<const TypedName> typed);

}  // namespace lockstep::cli
