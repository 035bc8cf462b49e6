// predict.also: further runs whose outputs are averaged with those of the first.
#pragma once

#include "cli/run_source.h"
#include "devices/device.h"
#include "plan/run_setup.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

struct FurtherRuns {
  std::vector<std::string> names;  // as the user gave them
  std::vector<RunSource> sources;  // likewise; must outlive the ranks
};

// Those that predict.also of `setup` names. first: the folder of its run or its export; empty
// before there is one. root: where runs are looked for by name. Throws Error: the recipe cannot
// average, no such run, one that is named twice, of another recipe, or with other options model.*.
FurtherRuns open_further_runs(const RunSetup& setup, const std::filesystem::path& first,
                              const std::string& root);

struct PreparedRuns {
  nlohmann::json request;   // for the workers: [{"name", "run", "weights", "step", "extra"}, …]
  nlohmann::json identity;  // what decides their outputs (cli/prediction_identity.h)
  std::vector<std::string> warnings{};  // ChosenWeights::warnings
};

// Each prepared to predict with the options predict.* of `setup`, which is prepared itself. best:
// the best checkpoints, not the newest good ones.
PreparedRuns prepare_further_runs(const FurtherRuns& runs, const RunSetup& setup,
                                  const std::vector<Device>& devices, bool best);

// Prepares a setup to predict; `extra` of the run's record stays below what is found now, which is
// returned.
nlohmann::json prepare_to_predict(RunSetup& setup, const std::vector<Device>& devices,
                                  const std::filesystem::path& run);

}  // namespace lockstep::cli
