// Decides which volumes are for training, and which are held back for validation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recipes/volume/options/volume_options.h"
#include "recipes/volume/prepare/find/find_volumes.h"
#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// Whether each id is for validation: by data.valid, by a fold of data.folds, or as one of
// data.valid_share of the ids in the order of their hashes. So ids mostly stay on their side when
// others are added. For a single volume it returns false, and `held_back_planes` divides its
// planes. Throws Error.
std::vector<bool> choose_valid(const VolumeOptions& options, const std::vector<std::string>& ids);

// How many of the last planes of the only volume are held back: data.valid_share of them, but at
// least a patch, as long as a patch is left for training. With data.pad, that share is always held
// back. 0 if there is no room, or if none is requested.
std::int64_t held_back_planes(const VolumeOptions& options, std::int64_t depth);

// If no planes of a volume can be held back: its last rows or columns, whichever leave more room,
// by the same rule. Nothing if there is no room, or if none is requested.
std::optional<VolumePart> held_back_part(const VolumeOptions& options, const VolumeShape& shape);

}  // namespace lockstep::volume
