// The identity of predictions: everything that decides their bytes, which the number of devices
// does not. Commands of the same identity may resume each other's work.
#pragma once

#include "planning/run_setup.h"
#include "runtime/run/folder/run_dir.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

struct ChosenWeights {
  nlohmann::json checkpoint;            // its step, for the workers; null for an export
  nlohmann::json identity;              // {"step", "id"}
  std::vector<std::string> warnings{};  // about damaged checkpoints, which were skipped
};

// Chooses the weights of the export `weights`, or of the run's best or newest good checkpoint.
// Reads the checkpoint completely to verify it. Throws Error if there is none.
ChosenWeights choose_weights(const RunDir& run, const std::filesystem::path& weights, bool best);

// The identity of one run: its weights, the files that its recipe kept, and the result of
// `prepare`.
nlohmann::json run_identity(const std::filesystem::path& run, const ChosenWeights& weights,
                            const nlohmann::json& found);

// The identity of a whole prediction. first: the identity of its run; the recipe, its options and
// the computing code are added to it. also: the identities of the further runs. Files that options
// predict.* name count by name, size and time.
nlohmann::json prediction_identity(const RunSetup& setup, nlohmann::json first,
                                   const nlohmann::json& also);

}  // namespace lockstep::cli
