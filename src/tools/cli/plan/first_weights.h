// Resolves init.from: a path, or the name of a run.
#pragma once

#include "planning/options/train_options.h"

#include <string>

namespace lockstep::cli {

// Turns init.from into a path if it is the name of a run in run.root. An existing path stays
// unchanged. Throws MissingFile if no path and no run has that name. The hint suggests a run with a
// similar name, or weights that PyTorch downloaded.
void find_first_weights(TrainOptions& train);

// Returns the path of a file in PyTorch's download folder for the model `name`, such as
// resnet50-11ad3fa6.pth for "resnet50". Returns "" if there is no such file.
std::string downloaded_weights(const std::string& name);

}  // namespace lockstep::cli
