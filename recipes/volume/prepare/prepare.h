// Implements VolumeOptions::prepare, items and score. A damaged record and faults of files throw
// exceptions of other types here; PreparedOptions turns them into Error.
#pragma once

#include <vector>

#include "recipes/volume/options/volume_options.h"

namespace lockstep::volume {

// Sets options that nobody has set from nnU-Net's dataset.json, if data.path has one.
Prepared prepare_volumes(VolumeOptions& options, const PrepareContext& context);
std::vector<PredictItem> find_items(const VolumeOptions& options, const ItemQuery& query);
std::vector<Score> score_volumes(VolumeOptions& options, const ScoreContext& context);

}  // namespace lockstep::volume
