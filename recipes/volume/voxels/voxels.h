// A whole volume in memory, with voxels of the types that the cache and the model use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "recipes/volume/files/volume_reader.h"
#include "recipes/volume/voxels/statistics.h"

namespace lockstep::volume {

// The voxels of a volume. Files of u8 and u16 without slope and intercept keep their type. Voxels
// of all other files become f32, with slope and intercept applied.
struct Voxels {
  VolumeShape shape;
  VoxelType type = VoxelType::u8;
  std::vector<std::byte> values;  // [C, D, H, W]
  VolumeHeader source;            // the file's header, before resampling
};

// Reads all voxels. Throws Error, which names the file, if a voxel is NaN or infinite.
Voxels read_voxels(VolumeReader& reader);
// Reads labels as u8. The values must be in [0, max(2, classes)), or `ignore`. For any other value,
// throws Error that names the file, the value and its position. Also throws Error if the volume has
// more than one channel.
std::vector<std::uint8_t> read_labels(VolumeReader& reader, std::int64_t classes,
                                      std::optional<std::int64_t> ignore);

// Returns the statistics of each channel. labels: [D, H, W], or empty. Voxels whose label is
// `ignore` are left out, unless all voxels have this label.
std::vector<ChannelStatistics> statistics_of(const Voxels& voxels,
                                             std::span<const std::uint8_t> labels,
                                             std::optional<std::int64_t> ignore);

// Returns the shape after resampling from spacing `from` to spacing `to`. Both spacings are z, y, x
// in any unit.
VolumeShape resampled_shape(const VolumeShape& shape, const std::array<double, 3>& from,
                            const std::array<double, 3>& to);
// Resample voxels or labels to the extents of `shape`. The outer borders of the old and the new
// volume coincide. So the centre of new voxel i lies at (i + 0.5) * old extent / new extent - 0.5
// in old voxels. Border voxels are repeated beyond the border. resample interpolates trilinearly,
// without smoothing. The type stays the same, and integers are rounded. resample_labels gives a new
// voxel the label of the nearest old voxel.
Voxels resample(const Voxels& voxels, const VolumeShape& shape);
std::vector<std::uint8_t> resample_labels(std::span<const std::uint8_t> labels,
                                          const VolumeShape& from, const VolumeShape& shape);

}  // namespace lockstep::volume
