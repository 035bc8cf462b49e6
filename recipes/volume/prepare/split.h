// Decides which volumes, or which parts of a single volume, are held back for validation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recipes/volume/options/volume_options.h"
#include "recipes/volume/prepare/find/find_volumes.h"
#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// Returns for each id whether the volume is for validation. data.valid decides if it is set, else
// data.folds, else data.valid_share. Folds and shares take the ids in the order of their hashes. So
// most volumes stay in training or in validation when others are added. A single volume is not
// chosen by share, because held_back_planes() divides it. Throws Error.
std::vector<bool> choose_valid(const VolumeOptions& options, const std::vector<std::string>& ids);

// Returns how many of the last planes of a single volume are held back. The number is
// data.valid_share of the planes, but at least the depth of a patch. This number is reduced if less
// than a patch would be left for training. With data.pad, the number is not reduced below the
// share. The result is 0 if no planes are left over, or if the options request no planes for
// validation.
std::int64_t held_back_planes(const VolumeOptions& options, std::int64_t depth);

// Returns the rows or columns that are held back if no planes can be. These are the last rows or
// columns, whichever leaves more room, by the same rule. Returns nothing if these leave no room
// either, or if the options request nothing for validation.
std::optional<VolumePart> held_back_part(const VolumeOptions& options, const VolumeShape& shape);

}  // namespace lockstep::volume
