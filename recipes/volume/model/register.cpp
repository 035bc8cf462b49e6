// Registers the torch half of the volume recipe in programs that link this file.
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
