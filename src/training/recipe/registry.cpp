// The factories of the recipes that this process knows.
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "training/recipe/recipe.h"

#include <map>
#include <utility>

namespace lockstep {
namespace {

std::map<std::string, RecipeFactory>& factories() {
  static std::map<std::string, RecipeFactory> all;
  return all;
}

}  // namespace

void register_recipe_factory(const std::string& name, RecipeFactory factory) {
  factories()[name] = std::move(factory);
}

const RecipeFactory& find_recipe_factory(const std::string& name) {
  const auto found = factories().find(name);
  if (found == factories().end()) throw Error(cat("this worker has no recipe named ", name));
  return found->second;
}

}  // namespace lockstep
