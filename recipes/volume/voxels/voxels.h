// A whole volume in memory, in the form that the cache and the model use.
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

// The voxels of a volume. u8 and u16 without slope and intercept stay as they are. All other voxels
// become f32, with slope and intercept applied.
struct Voxels {
  VolumeShape shape;
  VoxelType type = VoxelType::u8;
  std::vector<std::byte> values;  // [C, D, H, W]
  VolumeHeader source;            // the file's header, before resampling
};

// Reads all voxels. Throws Error, which names the file, if a voxel is NaN or infinite.
Voxels read_voxels(VolumeReader& reader);
// Reads labels as u8. The values must be in [0, max(2, classes)), or `ignore`. Throws Error, which
// names the file, the value and its place, for any other value. Also throws Error if there is more
// than one channel.
std::vector<std::uint8_t> read_labels(VolumeReader& reader, std::int64_t classes,
                                      std::optional<std::int64_t> ignore);

// Returns the statistics of each channel. labels: [D, H, W], or empty. Voxels whose label is
// `ignore` are left out, unless that would leave no voxel.
std::vector<ChannelStatistics> statistics_of(const Voxels& voxels,
                                             std::span<const std::uint8_t> labels,
                                             std::optional<std::int64_t> ignore);

// Returns the shape after resampling from spacing `from` to spacing `to`. Both spacings are z, y, x
// in any unit.
VolumeShape resampled_shape(const VolumeShape& shape, const std::array<double, 3>& from,
                            const std::array<double, 3>& to);
// Resample voxels or labels to the extents of `shape`. The outer borders of both volumes coincide.
// So the centre of new voxel i lies at (i + 0.5) * old extent / new extent - 0.5 in old voxels.
// Border voxels are repeated beyond the border. Voxels are interpolated trilinearly, without
// smoothing. The type stays the same, and integers are rounded. A new voxel gets the label of the
// nearest old voxel.
Voxels resample(const Voxels& voxels, const VolumeShape& shape);
std::vector<std::uint8_t> resample_labels(std::span<const std::uint8_t> labels,
                                          const VolumeShape& from, const VolumeShape& shape);

}  // namespace lockstep::volume
