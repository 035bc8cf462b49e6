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

// The options that affect the content of a cached volume, or decide which volumes are accepted.
struct DecodeOptions {
  std::optional<std::array<double, 3>> spacing;  // spacing to resample to: z, y, x in mm
  std::optional<std::int64_t> ignore;
  std::int64_t classes = 1;
  std::int64_t channels = 0;  // the required number of channels; 0: any number
  bool same_grid = false;     // whether affines of image and label may differ
  bool as_planes = false;     // ReadVolume::as_planes
  // The smallest extents that a volume may have. There is no value if volumes are padded, or if
  // they are not for training.
  std::optional<std::array<std::int64_t, 3>> patch{};
};
DecodeOptions decode_options(const VolumeOptions& options);
// Also sets `patch`, unless data.pad is set.
DecodeOptions training_options(const VolumeOptions& options);

// Throws Error if `extents` are smaller than how.patch. extents: those of the cached volume, or of
// the part of it that is for training. image: the file, for messages.
void check_holds_patch(const std::filesystem::path& image,
                       const std::array<std::int64_t, 3>& extents, const DecodeOptions& how);

// Returns the header that the cached volume will have, without statistics. Reads only the headers
// of the files. Throws Error in these cases:
//   - The shapes of image and labels differ.
//   - Image and labels differ in where their voxels lie in space, and how.same_grid is false.
//   - The spacing is needed, but the files do not state it.
//   - The number of channels is not how.channels.
//   - The volume is smaller than how.patch.
CachedHeader header_of(const Pair& pair, const DecodeOptions& how);

// Returns the approximate number of bytes of memory that decode() needs.
double decode_bytes(const Pair& pair, const DecodeOptions& how);

// Decodes a pair into the file `cached`. Throws Error as header_of does, except that how.patch is
// not checked. Also throws Error if a voxel is NaN or infinite, or a label is not a class. Also
// throws Error if all labels are ignored.
void decode(const Pair& pair, const DecodeOptions& how, const std::filesystem::path& cached);

}  // namespace lockstep::volume
