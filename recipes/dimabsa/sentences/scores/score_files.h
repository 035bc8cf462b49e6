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
  std::filesystem::path gold;                  // a jsonl file with labels
  std::string language{}, domain{};            // empty: from the name of `gold`
  OutOfRange out_of_range = OutOfRange::keep;  // how to read gold
  int resamples = 1000;                        // number of bootstrap samples; 0: no intervals
};

// Returns the scores of score_list(), and the number of gold sentences as the score "sentences".
// context.predictions: a file, a folder or a zip archive (files/find_predictions.h). Calls
// context.say with warnings of the readers, with IDs without a prediction, and with predicted IDs
// that are not in gold. Also calls it with confidence intervals, and with the scores of groups of
// tuples (breakdown.h). Throws Error if a file cannot be read, or if no predicted ID occurs in
// gold.
std::vector<Score> score_files(const ScoreFilesOptions& options, const ScoreContext& context);

}  // namespace lockstep::dimabsa
