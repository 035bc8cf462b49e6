// Decodes an image and its labels from their files into a file of the cache.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "recipes/volume/options/volume_options.h"
#include "recipes/volume/prepare/find/find_volumes.h"
#include "recipes/volume/voxels/cached_volume.h"

namespace lockstep::volume {

// Options that affect the content of a cached volume, or decide which volumes are accepted.
struct DecodeOptions {
  std::optional<std::array<double, 3>> spacing;  // z, y, x in mm to resample to
  std::optional<std::int64_t> ignore;
  std::int64_t classes = 1;
  std::int64_t channels = 0;  // the required number of channels; 0 = any number
  bool same_grid = false;     // whether affines of image and label may differ
  bool as_planes = false;     // ReadVolume::as_planes
  // The smallest extents that a volume may have. There is no value if volumes are padded or not for
  // training.
  std::optional<std::array<std::int64_t, 3>> patch{};
};
DecodeOptions decode_options(const VolumeOptions& options);
DecodeOptions training_options(const VolumeOptions& options);  // also sets `patch`

// Throws Error if how.patch does not fit into `extents`. These are the extents of the cached
// volume, or of the part of it that is for training.
void check_holds_patch(const std::filesystem::path& image,
                       const std::array<std::int64_t, 3>& extents, const DecodeOptions& how);

// Returns the header that the cached volume will have, without statistics. Reads only the headers
// of the files. Throws Error in these cases:
//   - The shapes of image and labels differ, or their places in space (unless same_grid).
//   - The spacing is needed but not stated.
//   - The number of channels is not how.channels.
//   - The volume is smaller than how.patch.
CachedHeader header_of(const Pair& pair, const DecodeOptions& how);

// Returns the approximate number of bytes of memory that decode() needs.
double decode_bytes(const Pair& pair, const DecodeOptions& how);

// Decodes a pair into the file `cached`. Throws Error as header_of does, but does not check
// how.patch. Also throws Error for voxels that are NaN or infinite, for labels that are not
// classes, and if all labels are ignored.
void decode(const Pair& pair, const DecodeOptions& how, const std::filesystem::path& cached);

}  // namespace lockstep::volume
