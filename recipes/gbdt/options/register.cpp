// Registers the gbdt recipe in programs that link this file.
#include "recipes/gbdt/options/gbdt_options.h"

namespace lockstep::gbdt {

constinit Trainer trainer = {};

namespace {

[[maybe_unused]] const bool registered = [] {
  register_direct_recipe(
      {.name = "gbdt",
       .summary = "trains LightGBM on the prices of a symbol in a window of time",
       .make_options = [] { return std::make_unique<GbdtOptions>(); },
       .gather =
           [](const DirectBatchEnd& end) {
             return trainer.gather == nullptr ? std::string() : trainer.gather(end);
           },
       .use =
           [](const DirectUse& use) {
             return trainer.use == nullptr ? std::string() : trainer.use(use);
           },
       .caution =
           [](const std::filesystem::path& folder) {
             return trainer.caution == nullptr ? std::string() : trainer.caution(folder);
           }});
  return true;
}();

}  // namespace
}  // namespace lockstep::gbdt
