// Reads TensorBoard logs of one run that are spread over several folders. Examples are Keras' train
// and validation, an Estimator's eval, and a folder for each curve of SummaryWriter.add_scalars.
#pragma once

#include "tools/report/facts/facts.h"

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

struct TensorboardPart {
  std::filesystem::path folder;
  // texts that are added to the tags of the folder: "train/" + tag, tag + "/val"
  std::string before, after;
};

// Returns the folder itself, if it has event files, and its subfolders with event files. Returns an
// empty list if no subfolder has event files, or if one with event files belongs to another run.
std::vector<TensorboardPart> tensorboard_parts(const std::filesystem::path& folder);

// Reads all parts as one log. parts: must not be empty. Throws Error if the parts hold no scalars.
Trial read_tensorboard_parts(const std::filesystem::path& folder,
                             const std::vector<TensorboardPart>& parts);

}  // namespace lockstep
