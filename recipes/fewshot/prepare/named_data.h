// Finds the data that the options data.* name.
#pragma once

#include "recipes/fewshot/annotations/find_data.h"
#include "recipes/fewshot/options/fewshot_options.h"

namespace lockstep::fewshot {

// Returns the files of the training and the validation set. Either data.path or data.train must be
// given. Throws Error if both are given, or if the files are not found. Also throws Error if
// data.valid_pictures is given, but there is no validation set. If data.valid_share is given and
// there is a validation set, `notes` says that the share has no effect.
FoundData named_data(const FewshotOptions& options);

}  // namespace lockstep::fewshot
