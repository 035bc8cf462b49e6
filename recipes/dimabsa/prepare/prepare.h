// Implements DimabsaOptions::prepare, items, score and forget_places. A damaged record and faults
// of files throw exceptions of other types here; PreparedOptions turns them into Error.
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

// Whether a prediction names no file. It is then for the run's validation sentences.
bool predicts_validation(const DimabsaOptions& options);

// The file that records the sentences, in a folder of the cache and later in RUN/recipe.
inline constexpr const char* record_name = "dimabsa.json";
// Reads it; null if the folder has none.
nlohmann::json read_record(const std::filesystem::path& folder);
// Reads the record of a run. Throws Error if it has none.
nlohmann::json record_of_run(const std::filesystem::path& run_dir);

}  // namespace lockstep::dimabsa
