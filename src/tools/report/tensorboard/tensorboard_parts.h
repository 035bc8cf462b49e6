// TensorBoard logs of one run that are spread over several folders: Keras' train and validation, an
// Estimator's eval, and a folder for each line that SummaryWriter.add_scalars draws.
#pragma once

#include "tools/report/facts/facts.h"

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

struct TensorboardPart {
  std::filesystem::path folder;
  std::string before, after;  // added to its tags: "train/" + tag, tag + "/val"
};

// The folder itself, if it has event files, and its subfolders that belong to the same run. Empty
// if no subfolder does.
std::vector<TensorboardPart> tensorboard_parts(const std::filesystem::path& folder);

// parts: not empty. Throws Error if they hold no scalars.
Trial read_tensorboard_parts(const std::filesystem::path& folder,
                             const std::vector<TensorboardPart>& parts);

}  // namespace lockstep
