// predict.also: further runs whose outputs are averaged with those of the first run.
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
  std::vector<std::string> names;  // as the user gave them
  std::vector<RunSource> sources;  // their sources; must outlive the ranks
};

// Opens the runs that predict.also of `setup` names. first: the folder of the setup's own run, or
// its export; empty if there is none yet. root: where runs are searched by name. Throws Error if
// the recipe cannot average, or if a run is missing, named twice, of another recipe, or has other
// options model.*.
FurtherRuns open_further_runs(const RunSetup& setup, const std::filesystem::path& first,
                              const std::string& root);

struct PreparedRuns {
  nlohmann::json request;  // for the workers: [{"name", "run", "weights", "step", "extra"}, …]
  nlohmann::json
      identity;  // everything that decides their outputs (tools/cli/predict/prediction_identity.h)
  std::vector<std::string> warnings{};  // ChosenWeights::warnings
};

// Prepares each run to predict with the options predict.* of `setup`, which must be prepared. best:
// whether to use the best checkpoints instead of the newest good ones.
PreparedRuns prepare_further_runs(const FurtherRuns& runs, const RunSetup& setup,
                                  const std::vector<Device>& devices, bool best);

// Prepares a setup to predict, and returns the new `extra`, which overrides the one in the run's
// record.
nlohmann::json prepare_to_predict(RunSetup& setup, const std::vector<Device>& devices,
                                  const std::filesystem::path& run);

}  // namespace lockstep::cli
