// What VolumeOptions::prepare, items and score do.
#pragma once

#include <vector>

#include "recipes/volume/options/volume_options.h"

namespace lockstep::volume {

Prepared prepare_volumes(const VolumeOptions& options, const PrepareContext& context);
std::vector<PredictItem> find_items(const VolumeOptions& options, const ItemQuery& query);
std::vector<Score> score_volumes(const VolumeOptions& options, const ScoreContext& context);

}  // namespace lockstep::volume
