// Connected components of a volume, found as runs along its rows, with two passes and a union-find
// over runs. The method is that of He, Chao and Suzuki, "A run-based two-scan labeling algorithm"
// (IEEE TIP 2008), in three dimensions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

// Which voxels are neighbours: those that share a face, or at least a corner.
enum class Connectivity { faces_6, corners_26 };

// Voxels [begin, end) of a row, which all belong to component `label`.
struct Run {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t label = 0;
};

// Labels are 1, 2, … in the order of the components' first voxels, whatever their shape. Takes 12
// bytes per run, and 4 more during the computation. A volume has at most half as many runs as
// voxels.
struct Components {
  Shape shape{};
  std::vector<std::uint32_t> row_begin;  // first run of each row z*height+y, and the number of runs
  std::vector<Run> runs;
  std::vector<std::int64_t> sizes;  // voxels of component label-1

  std::span<const Run> row(std::int64_t z, std::int64_t y) const;
};

// Throws Error if there are 2^31 runs or more.
Components components(const Mask& mask, Connectivity connectivity);

// Returns one label per voxel, 0 where the mask is clear.
std::vector<std::int32_t> dense_labels(const Components& components);

// Clears components of fewer than min_voxels voxels. Returns the number of cleared components.
std::int64_t remove_small_components(Mask& mask, std::int64_t min_voxels,
                                     Connectivity connectivity);
// The same for the voxels of one class in a volume of labels; they become `background`. Throws
// Error if the number of labels does not fit the shape.
std::int64_t remove_small_components(std::span<std::uint8_t> labels, const Shape& shape,
                                     std::uint8_t of_class, std::int64_t min_voxels,
                                     Connectivity connectivity, std::uint8_t background = 0);

}  // namespace lockstep::volume
