// The work of DimabsaOptions::prepare, items, score and forget_places. A damaged record and faults
// of files are exceptions of their own kind here; PreparedOptions makes an Error of them.
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

// Whether a prediction names no file, so that the run's validation sentences are meant.
bool predicts_validation(const DimabsaOptions& options);

// The record of the sentences in a folder of the cache, and in RUN/recipe after it.
inline constexpr const char* record_name = "dimabsa.json";
// Null if the folder has none.
nlohmann::json read_record(const std::filesystem::path& folder);
// The record of a run. Throws Error if it has none.
nlohmann::json record_of_run(const std::filesystem::path& run_dir);

}  // namespace lockstep::dimabsa
