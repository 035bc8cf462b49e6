// The prepared data set: which volumes are for training and for validation. VolumeOptions::prepare
// writes it for the worker, and it is part of the run's record.
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

// A range of rows or columns of a volume. It has a cached file of its own.
struct VolumePart {
  std::int64_t axis = 1;  // 1 = rows, 2 = columns
  std::int64_t begin = 0, end = 0;
  friend bool operator==(const VolumePart&, const VolumePart&) = default;
};

struct VolumeEntry {
  std::string id;
  std::filesystem::path cached;        // the file of a CachedVolume
  std::filesystem::path image, label;  // the source files
  std::int64_t begin = 0, end = 0;     // the planes in use: all, or some of them
  VolumeShape shape;                   // shape of the cached volume
  // The part of the volume that the cached file contains. There is no value if the file contains
  // the whole volume.
  std::optional<VolumePart> part{};
  friend bool operator==(const VolumeEntry&, const VolumeEntry&) = default;
};

struct PreparedVolumes {
  std::vector<VolumeEntry> train, valid;
  std::int64_t channels = 1;
  VoxelType type = VoxelType::u8;  // u8, u16 or f32; can represent all volumes
  Normalization normalization;
};

// Writes the volumes to a JSON file, so that run.json stays small even with many volumes.
// Prepared::extra["volumes"] is the path of the file. Prepared::extra also holds "normalization"
// and "channels", so prediction does not need the file.
void write_prepared(const std::filesystem::path& path, const PreparedVolumes& volumes);
PreparedVolumes read_prepared(const std::filesystem::path& path);  // throws Error if damaged

}  // namespace lockstep::volume
