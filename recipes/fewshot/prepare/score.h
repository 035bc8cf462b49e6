// Implements `lockstep score fewshot`.
#pragma once

#include <vector>

#include "recipes/fewshot/options/fewshot_options.h"

namespace lockstep::fewshot {

// Scores files of detections against the ground truth that the options name. The ground truth is
// score.truth if that is given. Otherwise, it is the validation set of data.path or data.train. If
// neither data.path nor data.train is given, it is data.valid. No picture is opened. Throws Error
// if no ground truth is named, or if a file cannot be found or read.
std::vector<Score> score_files(const FewshotOptions& options, const ScoreContext& context);

}  // namespace lockstep::fewshot
