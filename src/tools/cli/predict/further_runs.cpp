#include "tools/cli/predict/further_runs.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "tools/cli/plan/resolve.h"
#include "tools/cli/predict/prediction_identity.h"

#include <algorithm>

namespace lockstep::cli {
namespace fs = std::filesystem;

namespace {

constexpr const char* leave_it_out = "leave it out of predict.also";

fs::path identity(const fs::path& run, const fs::path& weights) {
  return fs::weakly_canonical(weights.empty() ? run : weights);
}

// Checks that both runs build the same model: the recipe and its model.* options must be equal.
// Shapes are compared later, when weights are read.
void check_same_model(const RunSetup& setup, const std::string& name, const nlohmann::json& other) {
  const std::string recipe = text_or(other, "recipe", "");
  if (recipe != setup.recipe)
    throw Error(cat(name, " is a run of the recipe ", printable(recipe), ", not of ", setup.recipe),
                leave_it_out);
  const nlohmann::json own = setup.options->table.to_json();
  const nlohmann::json config = other.value("config", nlohmann::json::object());
  for (const auto& [key, value] : own.items())
    if (key.starts_with("model.") && config.contains(key) && config[key] != value)
      throw Error(cat(name, " has ", key, " = ", config[key].dump(), ", not ", value.dump(),
                      ": runs that are averaged need the same model"),
                  leave_it_out);
}

// All runs use the predict.* options of the first one.
void take_predict_options(RunSetup& setup, const RunSetup& first) {
  const nlohmann::json values = first.options->table.to_json();
  for (const auto& [key, value] : values.items())
    if (key.starts_with("predict.")) setup.options->table.set_json(key, value);
}

}  // namespace

FurtherRuns open_further_runs(const RunSetup& setup, const fs::path& first,
                              const std::string& root) {
  FurtherRuns runs;
  const OptionTable& table = setup.options->table;
  if (!table.has(also_key)) return runs;
  runs.names = table.to_json().at(also_key).get<std::vector<std::string>>();
  if (runs.names.empty()) return runs;
  if (!setup.options->predict_input().averages)
    throw Error(
        cat("the recipe ", setup.recipe, " cannot average the outputs of several runs, but ",
            also_key, " names ", join(runs.names, ", ")),
        "predict with one run");
  std::vector<fs::path> known;
  if (!first.empty()) known.push_back(fs::weakly_canonical(first));
  for (const std::string& name : runs.names) {
    RunSource source = further_source(name, root);
    const fs::path own = identity(source.run.path(), source.weights);
    if (std::find(known.begin(), known.end(), own) != known.end())
      throw Error(cat(name, " is named twice: it would count twice in the average"), leave_it_out);
    known.push_back(own);
    check_same_model(setup, name, source.run.record());
    runs.sources.push_back(std::move(source));
  }
  return runs;
}

nlohmann::json prepare_to_predict(RunSetup& setup, const std::vector<Device>& devices,
                                  const fs::path& run) {
  nlohmann::json extra = setup.prepared.extra;
  prepare(setup, Purpose::predict, devices, run);
  nlohmann::json found = setup.prepared.extra;
  extra.update(found);
  setup.prepared.extra = std::move(extra);
  return found;
}

namespace {

ChosenWeights weights_of(const RunSource& source, const std::string& name, bool best) try {
  return choose_weights(source.run, source.weights, best);
} catch (const Error& error) {
  throw Error(cat(name, " cannot be averaged with the other runs: ", error.what()), leave_it_out);
}

}  // namespace

PreparedRuns prepare_further_runs(const FurtherRuns& runs, const RunSetup& setup,
                                  const std::vector<Device>& devices, bool best) {
  PreparedRuns prepared{.request = nlohmann::json::array(), .identity = nlohmann::json::array()};
  for (std::size_t i = 0; i < runs.sources.size(); ++i) {
    const RunSource& source = runs.sources[i];
    nlohmann::json record = source.run.record();
    record["plugin"] = setup.plugin;
    RunSetup other = setup_from_json(record);
    take_predict_options(other, setup);
    other.train->precision = setup.train->precision;
    const nlohmann::json found = prepare_to_predict(other, devices, source.run.path());
    const ChosenWeights weights = weights_of(source, runs.names[i], best);
    prepared.warnings.insert(prepared.warnings.end(), weights.warnings.begin(),
                             weights.warnings.end());
    prepared.request.push_back({{"name", runs.names[i]},
                                {"run", fs::absolute(source.run.path()).string()},
                                {"weights", source.weights.string()},
                                {"step", weights.checkpoint},
                                {"extra", other.prepared.extra}});
    prepared.identity.push_back(run_identity(source.run.path(), weights, found));
  }
  return prepared;
}

}  // namespace lockstep::cli
