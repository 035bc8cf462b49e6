// A whole volume in memory, in the form for the model and its cache.
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

// Values of u8 and u16 files stay as they are. All others, and those with a slope, become f32.
struct Voxels {
  VolumeShape shape;
  VoxelType type = VoxelType::u8;
  std::vector<std::byte> values;  // [C, D, H, W]
  VolumeHeader source;            // of the file, before it was resampled
};

// Throws Error, which names the file, if a voxel is NaN or infinite.
Voxels read_voxels(VolumeReader& reader);
// Reads labels as u8. Throws Error, which names the file, the value and its place, for a value that
// is neither a class (in [0, classes), or for classes = 1: 0 or 1) nor `ignore`.
std::vector<std::uint8_t> read_labels(VolumeReader& reader, std::int64_t classes,
                                      std::optional<std::int64_t> ignore);

// labels: empty, or [D, H, W]. Voxels whose label is `ignore` are left out, unless all are.
std::vector<ChannelStatistics> statistics_of(const Voxels& voxels,
                                             std::span<const std::uint8_t> labels,
                                             std::optional<std::int64_t> ignore);

// The extents of a volume of `shape` and spacing `from` (z, y, x, any unit) at spacing `to`.
VolumeShape resampled_shape(const VolumeShape& shape, const std::array<double, 3>& from,
                            const std::array<double, 3>& to);
// Resamples to the extents of `shape`. The outer borders of both volumes coincide, so the centre of
// voxel i lies at (i + 0.5) * from / to - 0.5 in old voxels. Beyond the border, the border voxels
// are repeated. Values are interpolated trilinearly (the type stays, rounded to the nearest),
// without smoothing before. Labels take the nearest voxel.
Voxels resample(const Voxels& voxels, const VolumeShape& shape);
std::vector<std::uint8_t> resample_labels(std::span<const std::uint8_t> labels,
                                          const VolumeShape& from, const VolumeShape& shape);

}  // namespace lockstep::volume
