// Rows or columns of a cached volume as a cached volume of their own, where a single volume is
// split across its planes.
#pragma once

#include <filesystem>

#include "recipes/volume/prepare/cache/cache_room.h"
#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// Whether a volume of this shape has such a part.
bool fits(const VolumePart& part, const VolumeShape& shape);

// The part of a whole volume that has such a part. It is written into `folder`, the cache, if it is
// absent or damaged; two processes at once are safe. Statistics are those of the whole volume, as
// for planes. Throws Error if there is no room.
VolumeEntry part_of(const VolumeEntry& whole, const VolumePart& part,
                    const std::filesystem::path& folder, const CacheLimits& limits);

}  // namespace lockstep::volume
