// Checks model.path if a command uses an existing run. The run has its own copy of the tokenizer's
// files, and its own weights. So model.path may only name a folder with the same contents of
// tokenizer, config.json and first weights.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "recipes/dimabsa/options/dimabsa_options.h"

namespace lockstep::dimabsa {

// Returns the JSON description of the weights from which the run began, as the run recorded it. If
// the command names a model.path, the paths in the description lie in that folder. Returns null if
// the run recorded no weights. For example, an export records none. Throws Error if the command
// names a model.path whose contents differ from those with which the run began.
nlohmann::json first_weights_of(const DimabsaOptions& options,
                                const std::filesystem::path& run_dir);

}  // namespace lockstep::dimabsa
