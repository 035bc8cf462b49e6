// A volume and its labels from their files to a file of the cache.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "recipes/volume/options/volume_options.h"
#include "recipes/volume/prepare/find/find_volumes.h"
#include "recipes/volume/voxels/cached_volume.h"

namespace lockstep::volume {

// The options that decide what a cached volume holds, and which volumes are taken.
struct DecodeOptions {
  std::optional<std::array<double, 3>> spacing;  // z, y, x in mm to resample to
  std::optional<std::int64_t> ignore;
  std::int64_t classes = 1;
  std::int64_t channels = 0;  // that a volume must have; 0: any number
  bool same_grid = false;     // affines of image and label may differ
  bool as_planes = false;     // ReadVolume::as_planes
  // The extents that every volume must have at least; nothing if volumes are filled up, or not
  // trained on.
  std::optional<std::array<std::int64_t, 3>> patch{};
};
DecodeOptions decode_options(const VolumeOptions& options);
DecodeOptions training_options(const VolumeOptions& options);  // with the patch

// extents: of the volume in the cache, or of its part for training. Throws Error.
void check_holds_patch(const std::filesystem::path& image,
                       const std::array<std::int64_t, 3>& extents, const DecodeOptions& how);

// The header that the cached volume will have, from the headers of both files alone; without
// statistics. Throws Error: different shapes, a spacing that is not known, a number of channels
// that is not meant, a volume that is smaller than the patch.
CachedHeader header_of(const Pair& pair, const DecodeOptions& how);

// The approximate memory that `decode` takes.
double decode_bytes(const Pair& pair, const DecodeOptions& how);

// Also throws Error for voxels that are no numbers, labels that are no classes, and labels that are
// all ignored.
void decode(const Pair& pair, const DecodeOptions& how, const std::filesystem::path& cached);

}  // namespace lockstep::volume
