// Checks model.path for an existing run. The run has its own copy of the tokenizer's files, and its
// own weights. So model.path may only name a folder with the same files.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "recipes/dimabsa/options/dimabsa_options.h"

namespace lockstep::dimabsa {

// Returns the description of the weights from which the run began, as the run recorded it. If the
// command names a model.path, the paths are those in that folder. Returns null if the run recorded
// no weights. This is so for an export, for example. Throws Error if the command names a model.path
// with other files.
nlohmann::json first_weights_of(const DimabsaOptions& options,
                                const std::filesystem::path& run_dir);

}  // namespace lockstep::dimabsa
