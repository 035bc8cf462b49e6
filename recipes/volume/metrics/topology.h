// Betti numbers of a mask, and a score that compares the Betti numbers of two masks.
//
// The foreground is the union of its voxels as closed cubes (Kovalevsky's cubical complex), so
// foreground is 26-connected and background 6-connected.
#pragma once

#include <array>
#include <cstdint>

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

// The numbers of components, tunnels and cavities.
using BettiNumbers = std::array<std::int64_t, 3>;

// Vertices - edges + faces - cubes of the complex; each is counted once.
std::int64_t euler_number(const Mask& mask);

// Components: 26-connected. Cavities: 6-connected components of the background that do not touch
// the border of the volume. Tunnels: components + cavities - Euler number.
BettiNumbers betti_numbers(const Mask& mask);

// Betti numbers of truth and prediction, and the number of each that both have, which is the
// smaller one. The counts can be added up over parts of a volume.
struct TopologyCounts {
  BettiNumbers truth{};
  BettiNumbers predicted{};
  BettiNumbers matched{};

  TopologyCounts& operator+=(const TopologyCounts& other);
  bool operator==(const TopologyCounts&) const = default;
};

// Returns sums over tiles. The volume is cut into tiles[i] parts along axis i, whose sizes differ
// by at most one. For a tile, everything outside it is background. If an axis has fewer voxels than
// parts, each part has one voxel. Throws Error if the shapes differ or a number of tiles is below
// 1.
TopologyCounts topology_counts(const Mask& truth, const Mask& predicted,
                               const Shape& tiles = {1, 1, 1});

// The weighted mean of 2 matched / (truth + predicted) over the dimensions, except those empty in
// both; 1 if all are empty in both. A STAND-IN for matching features: it ignores where a component,
// tunnel or cavity is. So it is at least as high as the score of any one-to-one matching of the
// same features.
double topology_score(const TopologyCounts& counts,
                      const std::array<double, 3>& weights = {0.34, 0.33, 0.33});

}  // namespace lockstep::volume
