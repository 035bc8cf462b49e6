// Opens and prepares the runs of predict.also. Their outputs are averaged with those of the first
// run.
#pragma once

#include "core/devices/device.h"
#include "planning/run_setup.h"
#include "tools/cli/compare/run_source.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

struct FurtherRuns {
  std::vector<std::string> names;  // names as the user typed them
  std::vector<RunSource> sources;  // sources of these runs; must live until the ranks have ended
};

// Opens the runs that predict.also of `setup` names. first: the folder of the run to which `setup`
// belongs, or its export; empty if that run does not exist yet. root: folder in which runs are
// found by name. Throws Error if the recipe cannot average outputs. Also throws Error for a run
// that is missing, named twice, of another recipe, or with other model.* options.
FurtherRuns open_further_runs(const RunSetup& setup, const std::filesystem::path& first,
                              const std::string& root);

struct PreparedRuns {
  nlohmann::json request;  // for the workers: [{"name", "run", "weights", "step", "extra"}, …]
  // Everything that decides the outputs of these runs; see tools/cli/predict/prediction_identity.h.
  nlohmann::json identity;
  std::vector<std::string> warnings{};  // as in ChosenWeights
};

// Prepares each run to predict with the predict.* options and the precision of `setup`, which must
// be prepared. best: whether to use the best checkpoints instead of the newest undamaged ones.
PreparedRuns prepare_further_runs(const FurtherRuns& runs, const RunSetup& setup,
                                  const std::vector<Device>& devices, bool best);

// Prepares a setup to predict. Returns the new `extra` of the recipe. In `setup`, its members
// replace those that came from the run's record.
nlohmann::json prepare_to_predict(RunSetup& setup, const std::vector<Device>& devices,
                                  const std::filesystem::path& run);

}  // namespace lockstep::cli
