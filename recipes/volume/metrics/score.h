// Computes the score of the Vesuvius surface competition: 0.30 topology + 0.35 SurfaceDice + 0.35
// VOI. VOI is the variation of information (voi.h). The topology score is not that of the
// competition, because it compares Betti numbers instead of matching features (topology.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "recipes/volume/metrics/surface.h"
#include "recipes/volume/metrics/topology.h"
#include "recipes/volume/metrics/voi.h"

namespace lockstep::volume {

// The defaults are those of the competition.
struct ScoreOptions {
  // voxels with this label in the truth become background in both masks
  std::optional<std::int64_t> ignore = 2;
  Spacing spacing{1, 1, 1};
  double tolerance = 2;    // for SurfaceDice, in the unit of the spacing
  double voi_alpha = 0.3;  // the argument `alpha` of voi_score
  // The number of tiles along each axis. Topological features are counted in each tile, so features
  // that are far apart do not match.
  Shape tiles{2, 2, 2};
  std::array<double, 3> topology_weights{0.34, 0.33, 0.33};
  std::array<double, 3> weights{0.30, 0.35, 0.35};  // topology, SurfaceDice, VOI
};

struct VolumeScore {
  TopologyCounts topology;
  SurfaceCounts surface;
  VariationOfInformation voi;
  double topology_score = 0;
  double surface_dice = 0;
  double voi_score = 0;
  double score = 0;  // the weighted mean of the three scores above
};

// Returns the mask of the voxels whose label is not 0 and whose truth is not `ignore`. Label is
// std::uint8_t, std::uint16_t or std::int32_t.
template <typename Label>
Mask foreground(std::span<const Label> labels, std::span<const Label> truth, const Shape& shape,
                std::optional<std::int64_t> ignore);

// Returns the scores of one volume. All scores are 1 if both masks are empty. Takes 1 bit of memory
// per voxel for each mask and for the surface of each mask. Also takes 16 bytes for each run of
// foreground or background along a row. Throws Error if sizes or options are invalid.
template <typename Label>
VolumeScore competition_score(std::span<const Label> truth, std::span<const Label> predicted,
                              const Shape& shape, const ScoreOptions& options = {});

// Computes the same from masks, from which the caller has removed ignored voxels.
VolumeScore competition_score(const Mask& truth, const Mask& predicted,
                              const ScoreOptions& options = {});

}  // namespace lockstep::volume
