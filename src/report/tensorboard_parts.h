// TensorBoard logs of one run in several folders: Keras' train and validation, an Estimator's eval,
// and a folder for each line that SummaryWriter.add_scalars draws.
#pragma once

#include "report/facts.h"

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

struct TensorboardPart {
  std::filesystem::path folder;
  std::string before, after;  // of its tags: "train/" + tag, tag + "/val"
};

// The folder itself, where it has event files, and those in it that belong to the same run; empty
// where none in it does.
std::vector<TensorboardPart> tensorboard_parts(const std::filesystem::path& folder);

// parts: not empty. Throws Error where they hold no scalars.
Trial read_tensorboard_parts(const std::filesystem::path& folder,
                             const std::vector<TensorboardPart>& parts);

}  // namespace lockstep
