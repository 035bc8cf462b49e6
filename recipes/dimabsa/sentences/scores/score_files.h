// `lockstep score dimabsa`: scores files of predictions against a gold file.
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
  std::string language{}, domain{};            // "": as the name of gold says
  OutOfRange out_of_range = OutOfRange::keep;  // for gold
  int resamples = 1000;                        // for the intervals; 0: no intervals
};

// Returns score_list, then "sentences". Also says, a line each: intervals, scores for NULL and for
// categories, IDs that are missing or unknown, and the readers' warnings. context.predictions: a
// file, a folder or a zip archive (find_predictions.h). Throws Error if a file cannot be read, or
// if no predicted ID occurs in gold.
std::vector<Score> score_files(const ScoreFilesOptions& options, const ScoreContext& context);

}  // namespace lockstep::dimabsa
