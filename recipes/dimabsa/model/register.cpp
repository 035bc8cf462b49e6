// Registers the torch half of the dimabsa recipe in programs that link this file.
#include "recipes/dimabsa/model/recipe.h"

namespace lockstep::dimabsa {
namespace {

[[maybe_unused]] const bool registered_factory = [] {
  register_recipe_factory("dimabsa", [](const RecipeOptions& options, const Prepared& prepared) {
    return std::make_unique<DimabsaRecipe>(dynamic_cast<const DimabsaOptions&>(options), prepared);
  });
  return true;
}();

}  // namespace
}  // namespace lockstep::dimabsa
