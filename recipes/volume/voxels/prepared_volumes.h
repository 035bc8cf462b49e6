// The result of preparation, which the worker and the run's record receive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "recipes/volume/files/volume_header.h"
#include "recipes/volume/voxels/statistics.h"

namespace lockstep::volume {

// Rows or columns of a volume, which have a cached file of their own.
struct VolumePart {
  std::int64_t axis = 1;  // 1: rows, 2: columns
  std::int64_t begin = 0, end = 0;
  friend bool operator==(const VolumePart&, const VolumePart&) = default;
};

struct VolumeEntry {
  std::string id;
  std::filesystem::path cached;        // CachedVolume
  std::filesystem::path image, label;  // where it came from
  std::int64_t begin = 0, end = 0;     // the planes that are used; for a whole volume [0, depth)
  VolumeShape shape;                   // of the cached file
  // the part that the cached file holds; nothing: the whole volume
  std::optional<VolumePart> part{};
  friend bool operator==(const VolumeEntry&, const VolumeEntry&) = default;
};

struct PreparedVolumes {
  std::vector<VolumeEntry> train, valid;
  std::int64_t channels = 1;
  VoxelType type = VoxelType::u8;  // type that can hold the voxels of all volumes: u8, u16 or f32
  Normalization normalization;
};

// Writes a file of JSON, so that run.json stays small even with many volumes.
// Prepared::extra["volumes"] is its path. Prepared::extra["normalization"] and ["channels"] are
// stored beside it, so that predicting needs no file.
void write_prepared(const std::filesystem::path& path, const PreparedVolumes& volumes);
PreparedVolumes read_prepared(const std::filesystem::path& path);  // throws Error

}  // namespace lockstep::volume
