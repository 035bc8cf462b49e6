// Implements the parts of VolumeOptions that read volumes: prepare, items and score. If a record or
// a file is damaged, these functions may throw exceptions that are not Error. PreparedOptions,
// which calls them, turns such exceptions into Error.
#pragma once

#include <vector>

#include "recipes/volume/options/volume_options.h"

namespace lockstep::volume {

// Prepares the data set. If the folder data.path has nnU-Net's dataset.json, options that the user
// did not set are taken from this file.
Prepared prepare_volumes(VolumeOptions& options, const PrepareContext& context);
std::vector<PredictItem> find_items(const VolumeOptions& options, const ItemQuery& query);
std::vector<Score> score_volumes(VolumeOptions& options, const ScoreContext& context);

}  // namespace lockstep::volume
