// Computes the Betti numbers of a mask, and a score that compares the Betti numbers of two masks.
//
// The foreground is the union of its voxels as closed cubes (Kovalevsky's cubical complex). So the
// foreground is 26-connected, and the background is 6-connected.
#pragma once

#include <array>
#include <cstdint>

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

// The numbers of components, tunnels and cavities, in this order.
using BettiNumbers = std::array<std::int64_t, 3>;

// Returns vertices - edges + faces - cubes of the complex. A vertex, edge or face that several
// voxels share is counted once.
std::int64_t euler_number(const Mask& mask);

// Components are 26-connected. Cavities are 6-connected components of the background that do not
// touch the border of the volume. The number of tunnels is components + cavities - Euler number.
BettiNumbers betti_numbers(const Mask& mask);

// The Betti numbers of truth and prediction. matched: for each Betti number, the smaller of the two
// values. Counts of several parts of a volume can be added.
struct TopologyCounts {
  BettiNumbers truth{};
  BettiNumbers predicted{};
  BettiNumbers matched{};

  TopologyCounts& operator+=(const TopologyCounts& other);
  bool operator==(const TopologyCounts&) const = default;
};

// Returns the sums of the counts over tiles. The volume is cut into tiles[i] parts along axis i.
// The sizes of the parts differ by at most one voxel. If an axis has fewer voxels than tiles[i],
// each part has one voxel. For each tile, everything outside the tile is background. Throws Error
// if the shapes differ or a number of tiles is below 1.
TopologyCounts topology_counts(const Mask& truth, const Mask& predicted,
                               const Shape& tiles = {1, 1, 1});

// Returns the weighted mean of 2 matched / (truth + predicted) over components, tunnels and
// cavities. A kind of feature that neither volume has is left out. The score is 1 if neither volume
// has any feature. The score ignores where features lie. So it only approximates a one-to-one
// matching of features. It is never below the score of such a matching.
double topology_score(const TopologyCounts& counts,
                      const std::array<double, 3>& weights = {0.34, 0.33, 0.33});

}  // namespace lockstep::volume
