// A recipe's options as the worker of a plugin describes them.
#include "fuzz.h"

#include <nlohmann/json.hpp>

#include "core/config/option_help.h"
#include "planning/options/train_options.h"
#include "tools/cli/plan/plugin_options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const auto recipe = nlohmann::json::parse(fuzz::text_of(data, size), nullptr, false);
  fuzz::accepts([&] {
    const auto options = cli::described_options(recipe);
    TrainOptions train;
    options->defaults(train, /*has_gpu=*/true);
    OptionTable* const tables[] = {&train.table, &options->table};
    options_text(tables, 80);
    options_json(tables).dump();
    to_toml(tables);
  });
  return 0;
}
