// The data that the options data.* name.
#pragma once

#include "recipes/fewshot/annotations/find_data.h"
#include "recipes/fewshot/options/fewshot_options.h"

namespace lockstep::fewshot {

// data.path or data.train is given. Throws Error: both are, nothing is there, or an option has no
// effect on the data that was found.
FoundData named_data(const FewshotOptions& options);

}  // namespace lockstep::fewshot
