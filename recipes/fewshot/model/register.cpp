// Registers the torch half of the fewshot recipe in programs that link this file.
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
