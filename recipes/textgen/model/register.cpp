// Registers the torch half of the text recipe in programs that link this file.
#include "recipes/textgen/model/recipe.h"

namespace lockstep::textgen {
namespace {

[[maybe_unused]] const bool registered = [] {
  register_recipe_factory("textgen", [](const RecipeOptions& options, const Prepared& prepared) {
    return std::make_unique<TextRecipe>(dynamic_cast<const TextOptions&>(options), prepared);
  });
  return true;
}();

}  // namespace
}  // namespace lockstep::textgen
