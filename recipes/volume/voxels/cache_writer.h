// Writes the files that CachedVolume maps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "recipes/volume/voxels/cached_volume.h"
#include "recipes/volume/voxels/voxels.h"

namespace lockstep::volume {

// Increase it when older files can no longer be read, or when decoding would now give other
// contents.
inline constexpr int cached_version = 3;

// The size of such a file in bytes.
std::uint64_t cached_bytes(const CachedHeader& header);

// labels: [D, H, W], or empty. Only spacing, ignore and channels of the header are used; the rest
// is computed from voxels and labels. The file appears under its name completely or not at all. It
// is not synced, because it can be made again. If the disk is full, throws Error with the folder
// and the bytes that are needed and free.
void write_cached(const std::filesystem::path& path, const Voxels& voxels,
                  std::span<const std::uint8_t> labels, CachedHeader header);

}  // namespace lockstep::volume
