// Implements DimabsaOptions::prepare, items, score and forget_places. Damaged records and files may
// throw exceptions that are not Error. PreparedOptions turns these into Error.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "recipes/dimabsa/options/dimabsa_options.h"

namespace lockstep::dimabsa {

Prepared prepare_sentences(const DimabsaOptions& options, const PrepareContext& context);
std::vector<PredictItem> find_items(const DimabsaOptions& options, const ItemQuery& query);
std::vector<Score> score_predictions(const DimabsaOptions& options, const ScoreContext& context);
void forget_places(nlohmann::json& extra, std::map<std::string, std::string>& kept);

// Whether the options name no input file. Predictions are then for the validation sentences of the
// run.
bool predicts_validation(const DimabsaOptions& options);

// The file that records how the sentences were prepared. The file is in a folder of the cache, and
// later in RUN/recipe.
inline constexpr const char* record_name = "dimabsa.json";
// Reads this file. Returns null if the folder has none.
nlohmann::json read_record(const std::filesystem::path& folder);
// Reads this file of a run. Throws Error if the run has none.
nlohmann::json record_of_run(const std::filesystem::path& run_dir);

}  // namespace lockstep::dimabsa
