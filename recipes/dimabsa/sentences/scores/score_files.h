// Implements `lockstep score dimabsa`: scores a file of predictions against a gold file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "planning/recipe_info.h"
#include "recipes/dimabsa/sentences/scores/va.h"
#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

struct ScoreFilesOptions {
  Task task = Task::quadruplets;
  std::filesystem::path gold;                  // jsonl with labels
  std::string language{}, domain{};            // empty: as in the name of `gold`
  OutOfRange out_of_range = OutOfRange::keep;  // for reading gold
  int resamples = 1000;                        // of the bootstrap; 0 = no intervals
};

// Returns score_list(), and the number of gold sentences as "sentences". context.predictions: a
// file, a folder or a zip archive (find_predictions.h). Reports warnings of the readers, IDs that
// are missing or unknown, confidence intervals, and scores for NULL and for categories. Throws
// Error if a file cannot be read, or if no predicted ID occurs in gold.
std::vector<Score> score_files(const ScoreFilesOptions& options, const ScoreContext& context);

}  // namespace lockstep::dimabsa
