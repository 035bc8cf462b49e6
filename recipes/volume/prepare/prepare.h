// The work of VolumeOptions::prepare, items and score. A damaged record and faults of files are
// exceptions of their own kind here; PreparedOptions makes an Error of them.
#pragma once

#include <vector>

#include "recipes/volume/options/volume_options.h"

namespace lockstep::volume {

// Options that nobody has set are set from nnU-Net's dataset.json if data.path has one.
Prepared prepare_volumes(VolumeOptions& options, const PrepareContext& context);
std::vector<PredictItem> find_items(const VolumeOptions& options, const ItemQuery& query);
std::vector<Score> score_volumes(VolumeOptions& options, const ScoreContext& context);

}  // namespace lockstep::volume
