// A run reads its own copy of the tokenizer's files, and its own weights. So for an existing run,
// model.path may only name another folder with the same files.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "recipes/dimabsa/options/dimabsa_options.h"

namespace lockstep::dimabsa {

// The weights from which the run began, as recorded, with the place where they lie now. Null if the
// record has none, for example that of an export. Throws Error if the command names a model.path
// with other files.
nlohmann::json first_weights_of(const DimabsaOptions& options,
                                const std::filesystem::path& run_dir);

}  // namespace lockstep::dimabsa
