// Betti numbers of a mask, and a score that compares those of two masks.
//
// The foreground is the union of its voxels as closed cubes (Kovalevsky's cubical complex), so
// foreground is 26-connected and background 6-connected.
#pragma once

#include <array>
#include <cstdint>

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

// Components, tunnels, cavities.
using BettiNumbers = std::array<std::int64_t, 3>;

// Vertices - edges + faces - cubes of the complex, each counted once.
std::int64_t euler_number(const Mask& mask);

// Components: 26-connected. Cavities: 6-connected components of the background that do not touch
// the border of the volume. Tunnels: components + cavities - Euler number.
BettiNumbers betti_numbers(const Mask& mask);

// Betti numbers of truth and prediction, and how many of each are in both: the smaller of the two.
// Can be added up over parts of a volume.
struct TopologyCounts {
  BettiNumbers truth{};
  BettiNumbers predicted{};
  BettiNumbers matched{};

  TopologyCounts& operator+=(const TopologyCounts& other);
  bool operator==(const TopologyCounts&) const = default;
};

// Sums over tiles. The volume is cut into tiles[i] parts along axis i, whose sizes differ by one at
// most. Everything outside a tile is background to it. An axis of fewer voxels than parts has one
// voxel to a part. Throws Error if the shapes differ or a number of tiles is below 1.
TopologyCounts topology_counts(const Mask& truth, const Mask& predicted,
                               const Shape& tiles = {1, 1, 1});

// The weighted mean of 2 matched / (truth + predicted) over the dimensions that are not empty in
// both; 1 if all are. A STAND-IN for matching features: it does not look at where a component,
// tunnel or cavity is. So it is at least as high as the score of any one-to-one matching of the
// same features.
double topology_score(const TopologyCounts& counts,
                      const std::array<double, 3>& weights = {0.34, 0.33, 0.33});

}  // namespace lockstep::volume
