// Copies a range of rows or columns of a cached volume into a cached volume of its own. This is
// needed if a single volume has too few planes to hold some back for validation.
#pragma once

#include <filesystem>

#include "recipes/volume/prepare/cache/cache_room.h"
#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// Returns whether the part lies within a volume of this shape.
bool fits(const VolumePart& part, const VolumeShape& shape);

// Returns an entry for a part of the volume `whole`. The part must lie within the volume. folder:
// the cache. If the cache has no file of the part, or a damaged one, the file is written. Several
// processes may do this at once. The part has the statistics of the whole volume, as entries for a
// range of planes have. Throws Error if the cache has no room.
VolumeEntry part_of(const VolumeEntry& whole, const VolumePart& part,
                    const std::filesystem::path& folder, const CacheLimits& limits);

}  // namespace lockstep::volume
