// Finds the data that the options data.* name.
#pragma once

#include "recipes/fewshot/annotations/find_data.h"
#include "recipes/fewshot/options/fewshot_options.h"

namespace lockstep::fewshot {

// Either data.path or data.train must be given. Throws Error if both are given, or if nothing is
// found. Also throws if data.valid_pictures is given without a validation set. If data.valid_share
// is given and there is a validation set, `notes` says that it has no effect.
FoundData named_data(const FewshotOptions& options);

}  // namespace lockstep::fewshot
