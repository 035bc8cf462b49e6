// Implements `lockstep config`, which shows every option of a recipe and of the engine.
#include "core/config/option_help.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/direct.h"
#include "tools/cli/plan/resolve.h"

#include <array>
#include <nlohmann/json.hpp>
#include <span>

namespace lockstep::cli {
namespace {

// Throws Error if several output formats are requested.
void check_forms(const Parsed& parsed) {
  std::vector<std::string> forms;
  for (const char* form : {"--toml", "--json", "--markdown"})
    if (parsed.has(form)) forms.push_back(form);
  if (forms.size() > 1)
    throw Error(cat(join(forms, " and "), " cannot go together"), "choose one of them");
}

void show(const Parsed& parsed, std::span<OptionTable* const> tables) {
  if (parsed.has("--toml"))
    print_data(to_toml(tables));
  else if (parsed.has("--json"))
    print(json_text(options_json(tables)));
  else if (parsed.has("--markdown"))
    print_data(options_markdown(tables));
  else
    print(options_text(tables, table_width()));
}

// Options can be shown before the files for training exist, so a missing file is only a warning.
void warn_of_missing(const Error& error) {
  say(cat("warning: a run is refused with these options: ", error.what(),
          error.hint().empty() ? "" : cat("; ", error.hint())));
}

int config_main(const Parsed& parsed) {
  check_forms(parsed);
  if (const DirectRecipe* direct = find_direct_recipe(parsed.positionals[0])) {
    const std::unique_ptr<DirectOptions> options = resolve_direct(*direct, parsed);
    const std::array tables = {&options->table};
    show(parsed, tables);
    return 0;
  }
  const std::vector<Device> devices =
      parsed.has("--devices")
          ? imagine_devices(parsed.value("--devices"), probe(), host_info(), nullptr)
          : devices_for("");
  RunSetup setup =
      read_options(parsed.positionals[0], parsed.value("--plugin"), parsed.all("--config"),
                   parsed.assignments, devices, {}, flags_here(config_command(), parsed));
  check_read_options(setup, warn_of_missing);
  show(parsed, setup.tables());
  return 0;
}

}  // namespace

Command config_command() {
  return {.name = "config",
          .operands = "RECIPE [key=value …]",
          .summary = "every option: its value and where it comes from, meaning, unit, range",
          .flags = {{"--toml", "", "a commented config file with the values resolved"},
                    {"--json", "", "as JSON"},
                    {"--markdown", "", "as the reference page"},
                    {"--config", "FILE",
                     "TOML or .json file of options; later files overlay earlier ones", "file"},
                    {"--devices", "LIST", "resolve defaults for these devices", "devices"},
                    {"--plugin", "LIB", "shared library with the recipe", "file"}},
          .min_positionals = 1,
          .max_positionals = 1,
          .takes_assignments = true,
          .complete = "recipe",
          .run = config_main};
}

}  // namespace lockstep::cli
