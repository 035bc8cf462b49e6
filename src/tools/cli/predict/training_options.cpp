#include "tools/cli/predict/training_options.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::cli {
namespace {

bool concerns_training(const std::string& key) {
  // Options that monitor processes apply to other commands too.
  if (key == "stop.hang_after" || key == "stop.grace") return false;
  return key.starts_with("stop.") || key.starts_with("schedule.") || key.starts_with("optimizer.");
}

bool is_changed(const OptionTable& table, const nlohmann::json& before, const std::string& key) {
  return is_asked_for(table, key) && before.value(key, nlohmann::json()) != table.to_json()[key];
}

bool is_changed(const RunSetup& setup, const nlohmann::json& before, const std::string& key) {
  const OptionTable &own = setup.options->table, &engine = setup.train->table;
  // The recipe's own length of a run was converted to epochs.
  if (own.has(key))
    return is_changed(own, before, key) || is_changed(engine, before, "stop.epochs");
  return is_changed(engine, before, key);
}

}  // namespace

void check_no_training_options(const RunDir& run, const RunSetup& setup,
                               const std::vector<std::string>& assignments,
                               const std::string& command) {
  const nlohmann::json before = run.record().at("config");
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    const std::string key = trim(assignment.substr(0, equals));
    if (equals == assignment.npos || !concerns_training(key) || !is_changed(setup, before, key))
      continue;
    const std::string of_command = cat(command, key.substr(key.rfind('.')));
    throw Error(cat(key, " has no effect: lockstep ", command, " does not train"),
                setup.options->table.has(of_command)
                    ? cat("did you mean ", of_command, assignment.substr(equals), "?")
                    : cat("leave out ", key));
  }
}

}  // namespace lockstep::cli
