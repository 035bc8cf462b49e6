// Puts rows or columns of a cached volume into a cached volume of their own. This is needed if a
// single volume is split across its planes.
#pragma once

#include <filesystem>

#include "recipes/volume/prepare/cache/cache_room.h"
#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

// Whether a volume of this shape has such a part.
bool fits(const VolumePart& part, const VolumeShape& shape);

// The part of a whole volume that has such a part. If it is absent or damaged, it is written into
// `folder`, the cache; two processes may do this at once. Statistics are those of the whole volume,
// as they are for planes. Throws Error if there is no room.
VolumeEntry part_of(const VolumeEntry& whole, const VolumePart& part,
                    const std::filesystem::path& folder, const CacheLimits& limits);

}  // namespace lockstep::volume
