#include "tools/cli/words/vocabulary.h"

#include "core/base/error.h"
#include "planning/direct_recipe.h"
#include "planning/options/batch_options.h"
#include "planning/options/optimizers.h"
#include "planning/options/parameter_rules.h"
#include "planning/recipe_info.h"

#include <algorithm>
#include <utility>

namespace lockstep::cli {
namespace {

const RecipeInfo* engine_recipe(const std::string& name) {
  for (const RecipeInfo& recipe : recipes())
    if (recipe.name == name) return &recipe;
  return nullptr;
}

// Sets a value if it is valid. Invalid values are reported elsewhere.
void set_if_possible(OptionTable& table, const std::string& key, const std::string& value,
                     ValueSource source) {
  try {
    if (table.has(key)) table.set(key, value, std::move(source));
  } catch (const Error&) {
  }
}

// Sets the values of the preset, and then the typed words. The preset is the typed one, or the
// recipe's default.
void set_typed(const RecipeOptions& recipe, const std::string& standard,
               std::span<const TypedName> typed, OptionTable& table) {
  std::string preset = standard;
  for (const TypedName& name : typed)
    if (name.name == "preset") preset = name.value;
  for (const Preset& each : recipe.table.presets())
    if (each.name == preset)
      for (const auto& [key, value] : each.values)
        set_if_possible(table, key, value, {.kind = ValueSource::Kind::preset, .where = preset});
  for (const TypedName& name : typed)
    set_if_possible(table, name.name, name.value, {.kind = ValueSource::Kind::argument});
}

}  // namespace

void Vocabulary::add(const OptionTable& table) {
  for (OptionInfo& option : table.options()) options.push_back(std::move(option));
  synonyms.insert(synonyms.end(), table.synonyms().begin(), table.synonyms().end());
}

const OptionInfo* Vocabulary::find(const std::string& key) const {
  const auto option = std::find_if(options.begin(), options.end(),
                                   [&](const OptionInfo& each) { return each.key == key; });
  return option == options.end() ? nullptr : &*option;
}

std::vector<std::string> Vocabulary::keys() const {
  std::vector<std::string> all;
  for (const OptionInfo& option : options) all.push_back(option.key);
  return all;
}

Vocabulary vocabulary_of(const std::string& recipe) {
  Vocabulary all;
  if (const DirectRecipe* const direct = find_direct_recipe(recipe)) {
    all.add(direct->make_options()->table);
    all.is_of_engine = false;
    return all;
  }
  if (const RecipeInfo* const info = engine_recipe(recipe)) all.add(info->make_options()->table);
  all.add(TrainOptions().table);
  // A name that only some commands translate, such as mode, may be an option of the recipe without
  // its group.
  std::erase_if(all.synonyms, [keys = all.keys()](const Synonym& one) {
    return !one.commands.empty() &&
           std::any_of(one.names.begin(), one.names.end(), [&](const std::string& name) {
             return !keys_in_a_group(keys, name).empty();
           });
  });
  return all;
}

std::vector<std::string> recipe_names(bool direct) {
  std::vector<std::string> names;
  for (const RecipeInfo& recipe : recipes()) names.push_back(recipe.name);
  if (direct)
    for (const DirectRecipe& recipe : direct_recipes()) names.push_back(recipe.name);
  return names;
}

bool is_recipe_name(const std::string& word) {
  return engine_recipe(word) != nullptr || find_direct_recipe(word) != nullptr;
}

std::vector<std::string> recipes_with(std::string_view key) {
  std::vector<std::string> names;
  for (const RecipeInfo& recipe : recipes())
    if (recipe.make_options()->table.has(key)) names.push_back(recipe.name);
  for (const DirectRecipe& recipe : direct_recipes())
    if (recipe.make_options()->table.has(key)) names.push_back(recipe.name);
  return names;
}

std::vector<std::string> keys_in_a_group(const std::vector<std::string>& keys,
                                         std::string_view name) {
  std::vector<std::string> found;
  const std::string ending = "." + std::string(name);
  for (const std::string& key : keys)
    if (key.ends_with(ending)) found.push_back(key);
  return found;
}

std::optional<NoEffect> without_effect(const std::string& recipe,
                                       std::span<const TypedName> typed) {
  const RecipeInfo* const info = engine_recipe(recipe);
  if (info == nullptr) return std::nullopt;
  const std::unique_ptr<RecipeOptions> options = info->make_options();
  TrainOptions train;
  options->defaults(train, /*has_gpu=*/false);
  set_typed(*options, train.preset, typed, options->table);
  try {
    options->check(train);
  } catch (const NoEffect& error) {
    return error;
  } catch (const Error&) {
  }
  return std::nullopt;
}

std::optional<Error> refusal_of(const std::string& recipe, std::span<const TypedName> typed,
                                bool has_gpu) try {
  if (const DirectRecipe* const direct = find_direct_recipe(recipe)) {
    const std::unique_ptr<DirectOptions> options = direct->make_options();
    for (const TypedName& name : typed)
      set_if_possible(options->table, name.name, name.value, {.kind = ValueSource::Kind::argument});
    options->check();
  } else if (const RecipeInfo* const info = engine_recipe(recipe)) {
    const std::unique_ptr<RecipeOptions> options = info->make_options();
    const auto train = options_in_force(recipe, typed, has_gpu);
    set_typed(*options, train->preset, typed, options->table);
    options->check(*train);
    check_parameter_options(*train);
    check_optimizer(*train);
    const std::vector<std::string> metrics = options->metric_names();
    if (const std::string& best = train->checkpoint.best_metric; !best.empty() && !metrics.empty())
      check_best_metric(metrics, best);
  }
  return std::nullopt;
} catch (const MissingFile&) {
  return std::nullopt;
} catch (const Error& error) {
  return error;
}

std::unique_ptr<TrainOptions> options_in_force(const std::string& recipe,
                                               std::span<const TypedName> typed, bool has_gpu) {
  auto train = std::make_unique<TrainOptions>();
  if (const RecipeInfo* const info = engine_recipe(recipe)) {
    const std::unique_ptr<RecipeOptions> options = info->make_options();
    options->defaults(*train, has_gpu);
    set_typed(*options, train->preset, typed, train->table);
  } else {
    set_typed(RecipeOptions(), "", typed, train->table);
  }
  prefer_given_batch(*train);
  return train;
}

}  // namespace lockstep::cli
