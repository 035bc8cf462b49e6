// Makes the torch half of the volume recipe known to the program that links this.
#include "recipes/volume/model/recipe.h"

namespace lockstep::volume {
namespace {

[[maybe_unused]] const bool registered = [] {
  register_recipe_factory("volume", [](const RecipeOptions& options, const Prepared& prepared) {
    return std::make_unique<VolumeRecipe>(dynamic_cast<const VolumeOptions&>(options), prepared);
  });
  return true;
}();

}  // namespace
}  // namespace lockstep::volume
