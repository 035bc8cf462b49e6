// Writes the files of the cache, which CachedVolume maps into memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "recipes/volume/voxels/cached_volume.h"
#include "recipes/volume/voxels/voxels.h"

namespace lockstep::volume {

// The version of the format. Increase it if older files can no longer be read, or if decoding now
// gives other voxels or labels.
inline constexpr int cached_version = 3;

// Returns the size in bytes of a file with this header.
std::uint64_t cached_bytes(const CachedHeader& header);

// Writes a file. labels: [D, H, W], or empty. header: the caller must set the members except shape,
// type, labelled, ignored and content. These are computed from voxels and labels. The file appears
// under its name completely or not at all. It is not synced to disk, because it can be made again.
// If the disk is full, throws Error that names the folder and the needed and free bytes.
void write_cached(const std::filesystem::path& path, const Voxels& voxels,
                  std::span<const std::uint8_t> labels, CachedHeader header);

}  // namespace lockstep::volume
