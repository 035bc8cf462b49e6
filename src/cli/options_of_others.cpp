#include "cli/options_of_others.h"

#include "base/text.h"
#include "plan/direct_recipe.h"
#include "plan/recipe_info.h"

#include <vector>

namespace lockstep::cli {
namespace {

std::vector<std::string> recipes_with(std::string_view key) {
  std::vector<std::string> names;
  for (const RecipeInfo& recipe : recipes())
    if (recipe.make_options()->table.has(key)) names.push_back(recipe.name);
  for (const DirectRecipe& recipe : direct_recipes())
    if (recipe.make_options()->table.has(key)) names.push_back(recipe.name);
  return names;
}

}  // namespace

ExplainKey options_of_others(const std::string& recipe) {
  return [recipe](std::string_view key) -> std::optional<Error> {
    const std::vector<std::string> others = recipes_with(key);
    if (others.empty()) return std::nullopt;
    return Error(cat(key, " is an option of the recipe", others.size() == 1 ? " " : "s ",
                     join(others, ", "), ", not of ", recipe),
                 cat("`lockstep config ", recipe, "` lists its options"));
  };
}

}  // namespace lockstep::cli
