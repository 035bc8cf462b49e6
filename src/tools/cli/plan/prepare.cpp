// Implements `lockstep prepare`. It prepares a recipe's data before the first run.
#include "core/base/text/text.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/plan/resolve.h"

#include <filesystem>

namespace lockstep::cli {
namespace {

int prepare_main(const Parsed& parsed) {
  RunSetup setup =
      resolve_options(parsed.positionals[0], "", parsed.all("--config"), parsed.assignments,
                      devices_for(""), {}, flags_here(prepare_command()));
  const std::filesystem::path cache = cache_for(Purpose::train, *setup.train, {});
  const Prepared prepared =
      setup.options->prepare({.purpose = Purpose::train, .cache_dir = cache, .say = say});
  if (parsed.has("--json")) {
    print(json_text({{"facts", to_json(prepared.facts)}, {"extra", prepared.extra}}));
    return 0;
  }
  const Facts& facts = prepared.facts;
  print(cat("prepared in ", cache.string(), ": ", facts.train_samples, " training and ",
            facts.valid_samples, " validation samples of ", general(facts.units_per_sample, 6), " ",
            facts.unit));
  return 0;
}

}  // namespace

Command prepare_command() {
  return {.name = "prepare",
          .operands = "RECIPE [key=value …]",
          .summary = "prepare a recipe's data ahead of the first run",
          .flags = {{"--config", "FILE",
                     "TOML or .json file of options; later files overlay earlier ones", "file"},
                    {"--json", "", "what was prepared, as JSON"}},
          .min_positionals = 1,
          .max_positionals = 1,
          .takes_assignments = true,
          .complete = "recipe",
          .run = prepare_main};
}

}  // namespace lockstep::cli
