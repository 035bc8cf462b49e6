// Resolves init.from: a path, or the name of a run.
#pragma once

#include "planning/options/train_options.h"

#include <string>

namespace lockstep::cli {

// Turns init.from into a path. It may be a path, or the name of a run in run.root. Throws Error if
// neither exists, with suggestions: a run, or weights that PyTorch downloaded.
void find_first_weights(TrainOptions& train);

// The name of a file in PyTorch's download folder that begins with `name`, "resnet50-11ad3fa6.pth";
// "" if there is none.
std::string downloaded_weights(const std::string& name);

}  // namespace lockstep::cli
