// Decides which volumes are for validation. If there is only one volume, decides which part of it
// is held back for validation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recipes/volume/options/volume_options.h"
#include "recipes/volume/prepare/find/find_volumes.h"
#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// Returns for each id whether the volume is for validation. data.valid decides if it is set. If
// not, data.folds decides, or else data.valid_share. Folds and shares take the ids in the order of
// their hashes. So most volumes stay in training or in validation when others are added.
// data.valid_share does not choose a single volume, because held_back_planes() divides it. Throws
// Error if data.valid names an unknown id, if the fold is impossible, or if no volume is left for
// training.
std::vector<bool> choose_valid(const VolumeOptions& options, const std::vector<std::string>& ids);

// Returns how many of the last planes of a single volume are held back for validation. The number
// is data.valid_share of the planes, but at least the depth of a patch. It is reduced if fewer
// planes than a patch has would be left for training. With data.pad, it is not reduced below the
// share. The result is 0 if no planes can be held back, or if the options request none for
// validation.
std::int64_t held_back_planes(const VolumeOptions& options, std::int64_t depth);

// Returns the rows or columns that are held back if no planes can be. These are the last rows, or
// the last columns if more of them are left beside a patch. Their number follows the rule for
// planes without data.pad. Returns no value if no rows or columns are left beside a patch, or if
// the options request nothing for validation.
std::optional<VolumePart> held_back_part(const VolumeOptions& options, const VolumeShape& shape);

}  // namespace lockstep::volume
