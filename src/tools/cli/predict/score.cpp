// Implements `lockstep score`, which rates existing outputs.
#include "core/base/error.h"
#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "runtime/launch/launch.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/plan/resolve.h"
#include "tools/cli/plan/trusted_plugins.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace lockstep::cli {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view predictions_key = "predictions=";

// Removes predictions=PATH from the assignments. The path must exist.
fs::path take_predictions(std::vector<std::string>& assignments) {
  std::string path;
  for (const std::string& word : assignments)
    if (word.starts_with(predictions_key)) path = word.substr(predictions_key.size());
  std::erase_if(assignments,
                [](const std::string& word) { return word.starts_with(predictions_key); });
  if (path.empty())
    throw Error("lockstep score needs predictions=PATH",
                "for example: lockstep score RECIPE predictions=RUN/predictions data.path=DATA");
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw Error(cat("there is no file or folder ", path), "name the outputs of lockstep predict");
  return fs::absolute(path).lexically_normal();
}

RunSetup resolve_score(const Parsed& parsed, const std::vector<std::string>& assignments) {
  const std::string plugin = parsed.value("--plugin");
  const std::string library = plugin.empty() ? "" : trust_plugin(plugin);
  describe_plugin(library);
  const RunSetup setup = make_setup(parsed.positionals[0], library, false);
  if (!setup.options->can_score()) setup.options->score({});
  return resolve_options(setup.recipe, plugin, parsed.all("--config"), assignments, {},
                         {.groups = {"score"}}, flags_here(score_command()));
}

std::string score_table(const std::vector<Score>& scores) {
  std::string text;
  for (const Score& score : scores)
    text += cat(pad_cells(score.name + " ", 26),
                std::isnan(score.value) ? "-" : general(score.value, 6),
                score.unit.empty() ? "" : " ", score.unit, "\n");
  return text;
}

nlohmann::json score_json(const std::vector<Score>& scores) {
  nlohmann::json metrics = nlohmann::json::object(), units = metrics;
  for (const Score& score : scores) {
    metrics[score.name] = score.value;
    units[score.name] = score.unit;
  }
  return {{"metrics", metrics}, {"units", units}};
}

int score_main(const Parsed& parsed) {
  std::vector<std::string> assignments = parsed.assignments;
  const fs::path predictions = take_predictions(assignments);
  const RunSetup setup = resolve_score(parsed, assignments);
  const std::vector<Score> scores = setup.options->score({.predictions = predictions, .say = say});
  if (scores.empty()) throw Error("the recipe returned no scores");
  print(parsed.has("--json") ? json_text(score_json(scores)) : score_table(scores));
  return exit_finished;
}

}  // namespace

Command score_command() {
  return {.name = "score",
          .operands = "RECIPE predictions=PATH [key=value …]",
          .summary = "compute the scores of existing outputs",
          .details =
              "Compares the outputs in PATH, a file or a folder, with the truth that the recipe's "
              "options name: score.truth, or data.path. Needs neither a run nor a GPU. With a file "
              "of the truth it needs no other data: lockstep score RECIPE truth=FILE "
              "predictions=FILE. A bare KEY means score.KEY where the recipe has that.",
          .flags = {{"--config", "FILE",
                     "TOML or .json file of options; later files overlay earlier ones", "file"},
                    {"--plugin", "LIB", "shared library with the recipe", "file"},
                    {"--json", "", "as JSON"}},
          .min_positionals = 1,
          .max_positionals = 1,
          .takes_assignments = true,
          .complete = "recipe",
          .run = score_main,
          .group = "score"};
}

}  // namespace lockstep::cli
