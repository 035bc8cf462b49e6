// The data that the options data.* name.
#pragma once

#include "recipes/fewshot/annotations/find_data.h"
#include "recipes/fewshot/options/fewshot_options.h"

namespace lockstep::fewshot {

// data.path or data.train is given. Throws Error: both are, nothing is there, or
// data.valid_pictures is given without a validation set. `notes` says that data.valid_share has no
// effect beside one.
FoundData named_data(const FewshotOptions& options);

}  // namespace lockstep::fewshot
