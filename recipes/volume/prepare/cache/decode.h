// Decodes a volume and its labels from their files into a file of the cache.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "recipes/volume/options/volume_options.h"
#include "recipes/volume/prepare/find/find_volumes.h"
#include "recipes/volume/voxels/cached_volume.h"

namespace lockstep::volume {

// Options that decide what a cached volume contains, and which volumes are accepted.
struct DecodeOptions {
  std::optional<std::array<double, 3>> spacing;  // z, y, x in mm to resample to
  std::optional<std::int64_t> ignore;
  std::int64_t classes = 1;
  std::int64_t channels = 0;  // channels that a volume must have; 0: any number
  bool same_grid = false;     // affines of image and label may differ
  bool as_planes = false;     // ReadVolume::as_planes
  // The least extents of every volume. Nothing if volumes are padded, or not used for training.
  std::optional<std::array<std::int64_t, 3>> patch{};
};
DecodeOptions decode_options(const VolumeOptions& options);
DecodeOptions training_options(const VolumeOptions& options);  // with the patch

// extents: those of the volume in the cache, or of its part for training. Throws Error.
void check_holds_patch(const std::filesystem::path& image,
                       const std::array<std::int64_t, 3>& extents, const DecodeOptions& how);

// The header that the cached volume will have, from the headers of both files alone, without
// statistics. Throws Error if shapes differ, a needed spacing is unknown, the number of channels is
// not the expected one, or the volume is smaller than the patch.
CachedHeader header_of(const Pair& pair, const DecodeOptions& how);

// The approximate memory that `decode` needs.
double decode_bytes(const Pair& pair, const DecodeOptions& how);

// Also throws Error for voxels that are not numbers, labels that are not classes, and if all labels
// are ignored.
void decode(const Pair& pair, const DecodeOptions& how, const std::filesystem::path& cached);

}  // namespace lockstep::volume
