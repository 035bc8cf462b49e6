// Copies a range of rows or columns of a cached volume into a cached volume of its own. This is
// needed if a single volume has too few planes to hold some back for validation.
#pragma once

#include <filesystem>

#include "recipes/volume/prepare/cache/cache_room.h"
#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// Whether the part lies within a volume of this shape.
bool fits(const VolumePart& part, const VolumeShape& shape);

// Returns an entry for the part of a volume. The part must lie within the volume. folder: the
// cache. If the cache does not have the part, or only a damaged file, the part is written there.
// Several processes may do this at once. The part keeps the statistics of the whole volume, because
// a range of planes also keeps them. Throws Error if there is no room.
VolumeEntry part_of(const VolumeEntry& whole, const VolumePart& part,
                    const std::filesystem::path& folder, const CacheLimits& limits);

}  // namespace lockstep::volume
