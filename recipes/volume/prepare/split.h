// Which volumes are trained on, and which are held back for validation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recipes/volume/options/volume_options.h"
#include "recipes/volume/prepare/find/find_volumes.h"
#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// Whether each id is for validation: data.valid, a fold of data.folds, or data.valid_share of the
// ids in an order of their hashes. So an id stays where it is when others come. A single volume
// gives false; `held_back_planes` divides its planes. Throws Error.
std::vector<bool> choose_valid(const VolumeOptions& options, const std::vector<std::string>& ids);

// How many of the last planes of the only volume are held back: data.valid_share of them, but at
// least a patch, as long as a patch is left for training. With data.pad the share is held back in
// any case. 0: there is no room, or none is wanted.
std::int64_t held_back_planes(const VolumeOptions& options, std::int64_t depth);

// If no planes of a volume can be held back: the last rows or columns, whichever leave more
// room, by the same rule. Nothing: there is no room, or none is wanted.
std::optional<VolumePart> held_back_part(const VolumeOptions& options, const VolumeShape& shape);

}  // namespace lockstep::volume
