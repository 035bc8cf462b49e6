// A run reads its own copy of the tokenizer's files, and weights of its own. So model.path of a run
// that is there already can only name another place of the same files.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "recipes/dimabsa/options/dimabsa_options.h"

namespace lockstep::dimabsa {

// The weights that the run began with, from its record, with the place where they lie now. Null if
// the record has none, as that of an export. Throws Error if the command names a model.path with
// other files.
nlohmann::json first_weights_of(const DimabsaOptions& options,
                                const std::filesystem::path& run_dir);

}  // namespace lockstep::dimabsa
