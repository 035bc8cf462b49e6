// Implements VolumeOptions::prepare, items and score. Damaged records and files may throw
// exceptions that are not Error. PreparedOptions turns these into Error.
#pragma once

#include <vector>

#include "recipes/volume/options/volume_options.h"

namespace lockstep::volume {

// Prepares the data set. If data.path has nnU-Net's dataset.json, options that are not set are
// taken from it.
Prepared prepare_volumes(VolumeOptions& options, const PrepareContext& context);
std::vector<PredictItem> find_items(const VolumeOptions& options, const ItemQuery& query);
std::vector<Score> score_volumes(VolumeOptions& options, const ScoreContext& context);

}  // namespace lockstep::volume
