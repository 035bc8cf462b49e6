// The score of the Vesuvius surface competition, 0.30 topology + 0.35 SurfaceDice + 0.35 VOI,
// except that Betti numbers replace Betti matching (topology.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "recipes/volume/metrics/surface.h"
#include "recipes/volume/metrics/topology.h"
#include "recipes/volume/metrics/voi.h"

namespace lockstep::volume {

// The defaults are the competition's.
struct ScoreOptions {
  std::optional<std::int64_t> ignore = 2;  // voxels with this truth become background in both masks
  Spacing spacing{1, 1, 1};
  double tolerance = 2;    // of SurfaceDice, in the unit of the spacing
  double voi_alpha = 0.3;  // cost of one bit
  // features are counted per tile, to limit the distance between features that may match
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
  double score = 0;  // the weighted mean of the three
};

// The mask of voxels that are neither 0 nor ignored. Label is std::uint8_t, std::uint16_t or
// std::int32_t.
template <typename Label>
Mask foreground(std::span<const Label> labels, std::span<const Label> truth, const Shape& shape,
                std::optional<std::int64_t> ignore);

// 1 if both masks are empty. Needs 1 bit per voxel for each mask and each of their surfaces, and 16
// bytes per run of foreground or background along a row. Throws Error if sizes or options are
// invalid.
template <typename Label>
VolumeScore competition_score(std::span<const Label> truth, std::span<const Label> predicted,
                              const Shape& shape, const ScoreOptions& options = {});

// The same for masks from which ignored voxels have been removed.
VolumeScore competition_score(const Mask& truth, const Mask& predicted,
                              const ScoreOptions& options = {});

}  // namespace lockstep::volume
