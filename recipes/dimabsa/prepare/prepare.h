// Implements the parts of DimabsaOptions that read sentences: prepare, items, score and
// forget_places. If a record or a file is damaged, these functions may throw exceptions that are
// not Error. PreparedOptions, which calls them, turns such exceptions into Error.
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

// Returns whether the options name no input file. In that case, predictions are for the validation
// sentences of the run.
bool predicts_validation(const DimabsaOptions& options);

// The name of the file that records how the sentences were prepared. prepare_sentences writes it to
// a folder of the cache. A run keeps a copy in RUN/recipe.
inline constexpr const char* record_name = "dimabsa.json";
// Reads the record in a folder. Returns null if the folder has no such file.
nlohmann::json read_record(const std::filesystem::path& folder);
// Reads the record of a run. Throws Error if the run has no such file.
nlohmann::json record_of_run(const std::filesystem::path& run_dir);

}  // namespace lockstep::dimabsa
