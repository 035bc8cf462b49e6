// `lockstep score fewshot`.
#pragma once

#include <vector>

#include "recipes/fewshot/options/fewshot_options.h"

namespace lockstep::fewshot {

// Scores files of detections against score.truth, data.valid if data.path is not given, or the
// validation set of data.path. Looks at no picture. Throws Error.
std::vector<Score> score_files(const FewshotOptions& options, const ScoreContext& context);

}  // namespace lockstep::fewshot
