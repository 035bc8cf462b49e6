// The recipe of fakes/contract_recipe.h as a plugin; the option `fault` names what is wrong with
// it.
#include "fakes/contract_recipe.h"
#include "training/recipe/register.h"

namespace lockstep::testing {

struct ContractOptions : RecipeOptions {
  std::string fault = "none";
  ContractOptions() { table.add("fault", fault, {.meaning = "what is wrong with the recipe"}); }
  void defaults(TrainOptions& train, bool) const override { train.batch.global = 12; }
};

struct ContractPlugin : ContractRecipe {
  ContractPlugin(const ContractOptions& options, const Prepared&) : ContractRecipe(options.fault) {}
};

}  // namespace lockstep::testing

LOCKSTEP_PLUGIN("contract", "a tiny regression with faults", lockstep::testing::ContractOptions,
                lockstep::testing::ContractPlugin)
