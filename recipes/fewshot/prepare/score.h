// `lockstep score fewshot`.
#pragma once

#include <vector>

#include "recipes/fewshot/options/fewshot_options.h"

namespace lockstep::fewshot {

// Files of detections against score.truth, data.valid alone, or the validation set of data.path.
// Looks at no picture. Throws Error.
std::vector<Score> score_files(const FewshotOptions& options, const ScoreContext& context);

}  // namespace lockstep::fewshot
