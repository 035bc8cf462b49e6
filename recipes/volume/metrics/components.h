// Finds the connected components of a binary volume. The method works on runs of set voxels along
// rows, with two passes and a union-find over runs. It extends He, Chao and Suzuki, "A run-based
// two-scan labeling algorithm" (IEEE TIP 2008), to three dimensions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

// The definition of neighbours. faces_6: voxels that share a face. corners_26: voxels that share a
// face, an edge or a corner.
enum class Connectivity { faces_6, corners_26 };

// Voxels [begin, end) of a row, which are set and belong to component `label`.
struct Run {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t label = 0;
};

// The components of a volume. Labels are 1, 2, … in the order of the components' first voxels.
// Components take 12 bytes of memory per run, and 4 more bytes per run while they are computed. A
// row of n voxels has at most (n + 1) / 2 runs.
struct Components {
  Shape shape{};
  // The index of the first run of each row z * height + y. The last element is the number of runs.
  std::vector<std::uint32_t> row_begin;
  std::vector<Run> runs;
  std::vector<std::int64_t> sizes;  // sizes[label - 1]: voxels of the component

  std::span<const Run> row(std::int64_t z, std::int64_t y) const;
};

// Throws Error if there are 2^31 runs or more.
Components components(const Mask& mask, Connectivity connectivity);

// Returns a label for each voxel. The label of voxels that are not set is 0.
std::vector<std::int32_t> dense_labels(const Components& components);

// Clears all components with fewer than min_voxels voxels. Returns the number of cleared
// components.
std::int64_t remove_small_components(Mask& mask, std::int64_t min_voxels,
                                     Connectivity connectivity);
// Does the same for the voxels with the label `of_class` in a volume of labels. Voxels of removed
// components get the label `background`. Throws Error if the number of labels does not match the
// shape.
std::int64_t remove_small_components(std::span<std::uint8_t> labels, const Shape& shape,
                                     std::uint8_t of_class, std::int64_t min_voxels,
                                     Connectivity connectivity, std::uint8_t background = 0);

}  // namespace lockstep::volume
