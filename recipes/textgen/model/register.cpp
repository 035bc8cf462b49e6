// Makes the text recipe known to the worker.
#include "recipes/textgen/model/register.h"

#include "recipes/textgen/model/recipe.h"

namespace lockstep {

void register_textgen_model() {
  register_recipe_factory("textgen", [](const RecipeOptions& options, const Prepared& prepared) {
    return std::make_unique<textgen::TextRecipe>(dynamic_cast<const textgen::TextOptions&>(options),
                                                 prepared);
  });
}

}  // namespace lockstep
