// `lockstep score dimabsa`: predictions in files against gold in a file.
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
  OutOfRange out_of_range = OutOfRange::keep;  // of gold
  int resamples = 1000;                        // of the intervals; 0: none
};

// score_list, then "sentences". Says, a line each: intervals, scores of NULL and of categories,
// IDs that are missing or unknown, and what the readers warn of. context.predictions: a file, a
// folder or a zip archive (find_predictions.h). Throws Error if a file cannot be read, and if
// no predicted ID is one of gold.
std::vector<Score> score_files(const ScoreFilesOptions& options, const ScoreContext& context);

}  // namespace lockstep::dimabsa
