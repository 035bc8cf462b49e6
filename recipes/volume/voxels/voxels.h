// A whole volume in memory, as the model and its cache take it.
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

// u8 and u16 files stay as they are; all others, and those with a slope, become f32.
struct Voxels {
  VolumeShape shape;
  VoxelType type = VoxelType::u8;
  std::vector<std::byte> values;  // [C, D, H, W]
  VolumeHeader source;            // of the file, before it was resampled
};

// Throws Error, naming the file, for a NaN or infinity among the voxels.
Voxels read_voxels(VolumeReader& reader);
// Labels as u8; throws Error, naming the file, the value and its place, for a value that is neither
// in [0, classes) (classes = 1: 0 or 1) nor `ignore`.
std::vector<std::uint8_t> read_labels(VolumeReader& reader, std::int64_t classes,
                                      std::optional<std::int64_t> ignore);

// labels: empty, or [D, H, W]; voxels whose label is `ignore` are left out, unless all are.
std::vector<ChannelStatistics> statistics_of(const Voxels& voxels,
                                             std::span<const std::uint8_t> labels,
                                             std::optional<std::int64_t> ignore);

// The extents of a volume of `shape` and spacing `from` (z, y, x, any unit) at spacing `to`.
VolumeShape resampled_shape(const VolumeShape& shape, const std::array<double, 3>& from,
                            const std::array<double, 3>& to);
// To the extents of `shape`; the outer borders of both volumes coincide, so the centre of voxel i
// lies at (i + 0.5) * from / to - 0.5 of the old ones, and the border voxels go on outside.
// Trilinear for values (type stays, rounded to the nearest), without smoothing before; the nearest
// for labels.
Voxels resample(const Voxels& voxels, const VolumeShape& shape);
std::vector<std::uint8_t> resample_labels(std::span<const std::uint8_t> labels,
                                          const VolumeShape& from, const VolumeShape& shape);

}  // namespace lockstep::volume
