// Writes the files that CachedVolume maps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "recipes/volume/voxels/cached_volume.h"
#include "recipes/volume/voxels/voxels.h"

namespace lockstep::volume {

// Changes whenever older files cannot be read any more, or hold what would now be decoded
// differently.
inline constexpr int cached_version = 3;

// The bytes of such a file.
std::uint64_t cached_bytes(const CachedHeader& header);

// labels: [D, H, W], or empty. Only spacing, ignore and channels of the header count; the rest
// follows from voxels and labels. The file appears under its name whole or not at all; it is not
// synced, because it can be made again. Throws Error if the disk is full: it names the folder,
// what is needed and what is free.
void write_cached(const std::filesystem::path& path, const Voxels& voxels,
                  std::span<const std::uint8_t> labels, CachedHeader header);

}  // namespace lockstep::volume
