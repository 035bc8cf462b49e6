// Makes the torch half of the fewshot recipe known to the program that links this.
#include "recipes/fewshot/model/recipe.h"

namespace lockstep::fewshot {
namespace {

[[maybe_unused]] const bool registered = [] {
  register_recipe_factory("fewshot", [](const RecipeOptions& options, const Prepared& prepared) {
    return std::make_unique<FewshotRecipe>(dynamic_cast<const FewshotOptions&>(options), prepared);
  });
  return true;
}();

}  // namespace
}  // namespace lockstep::fewshot
