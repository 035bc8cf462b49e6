// Where init.from leads: a path, or the name of a run.
#pragma once

#include "plan/train_options.h"

#include <string>

namespace lockstep::cli {

// init.from becomes a path, also where it is the name of a run in run.root. Throws Error where
// there is neither, with what may be meant: a run, or weights that PyTorch downloaded.
void find_first_weights(TrainOptions& train);

// A file of PyTorch's download folder whose name begins so, "resnet50-11ad3fa6.pth"; "": none.
std::string downloaded_weights(const std::string& name);

}  // namespace lockstep::cli
