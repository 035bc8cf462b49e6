// Computes the identity of predictions: everything that decides the bytes of their outputs. The
// number of devices is not part of it. A command may resume the work of another command with the
// same identity.
#pragma once

#include "planning/run_setup.h"
#include "runtime/run/folder/run_dir.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

struct ChosenWeights {
  nlohmann::json checkpoint;  // step of the checkpoint, for the workers; null for an export
  nlohmann::json identity;    // {"step", "id"}
  std::vector<std::string> warnings{};  // warnings about damaged checkpoints, which were skipped
};

// Chooses the weights of the export `weights`. If that is empty, chooses the run's best or newest
// undamaged checkpoint. Reads the checkpoint completely to verify it. Throws Error if the run has
// no undamaged checkpoint.
ChosenWeights choose_weights(const RunDir& run, const std::filesystem::path& weights, bool best);

// Returns the identity of one run: its weights, the files that its recipe keeps in the run, and
// `found`. found: the result of prepare_to_predict.
nlohmann::json run_identity(const std::filesystem::path& run, const ChosenWeights& weights,
                            const nlohmann::json& found);

// Returns the identity of a whole prediction. first: the identity of the run that predicts. The
// recipe, its options, the precision and the versions of the code are added to it. also: the
// identities of the other runs, if outputs of several runs are averaged. A file that a predict.*
// option names is identified by name, size and time.
nlohmann::json prediction_identity(const RunSetup& setup, nlohmann::json first,
                                   const nlohmann::json& also);

}  // namespace lockstep::cli
