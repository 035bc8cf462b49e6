// What decides the bytes of predictions, whatever the number of devices: commands of the same
// identity may go on with each other's.
#pragma once

#include "plan/run_setup.h"
#include "run/run_dir.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

struct ChosenWeights {
  nlohmann::json checkpoint;            // its step, for the workers; null of an export
  nlohmann::json identity;              // {"step", "id"}
  std::vector<std::string> warnings{};  // of damaged checkpoints, which were passed over
};

// The weights that predict: of the export `weights`, or of the run's best or newest good
// checkpoint, which is read to check it. Throws Error where there is none.
ChosenWeights choose_weights(const RunDir& run, const std::filesystem::path& weights, bool best);

// Of one run: its weights, the files that its recipe kept, and what `prepare` found.
nlohmann::json run_identity(const std::filesystem::path& run, const ChosenWeights& weights,
                            const nlohmann::json& found);

// Of a whole prediction: `first` of its run, with the recipe, its options and what computes; also:
// of the further runs. Files that options predict.* name count by name, size and time.
nlohmann::json prediction_identity(const RunSetup& setup, nlohmann::json first,
                                   const nlohmann::json& also);

}  // namespace lockstep::cli
