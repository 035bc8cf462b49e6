// Reads TensorBoard logs of one run that are spread over several folders. Examples are Keras' train
// and validation, an Estimator's eval, and a folder for each line that SummaryWriter.add_scalars
// draws.
#pragma once

#include "tools/report/facts/facts.h"

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

struct TensorboardPart {
  std::filesystem::path folder;
  std::string before, after;  // added to the tags of the folder: "train/" + tag, tag + "/val"
};

// Returns the folder itself, if it has event files, and its subfolders with event files. Returns an
// empty list if there is no such subfolder, or if one of them does not belong to the same run.
std::vector<TensorboardPart> tensorboard_parts(const std::filesystem::path& folder);

// parts: must not be empty. Throws Error if they hold no scalars.
Trial read_tensorboard_parts(const std::filesystem::path& folder,
                             const std::vector<TensorboardPart>& parts);

}  // namespace lockstep
