// All scores of the recipe for the prediction of one volume.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "recipes/volume/metrics/mask.h"
#include "recipes/volume/metrics/overlap.h"

namespace lockstep::volume {

struct EvaluationOptions {
  std::int64_t classes = 1;  // 1: foreground or not
  std::optional<std::int64_t> ignore;
  bool topology = true;  // whether to compute SurfaceDice, VOI and topology; only with one class
  double tolerance = 2;
  bool tolerance_mm = false;
};

// The scores of one volume.
struct VolumeRecord {
  std::vector<OverlapCounts> classes;                                     // with the background
  double score = 0, surface_dice = 0, voi_score = 0, topology_score = 0;  // NaN: not requested

  double dice() const;  // mean over the classes from 1 on
  double iou() const;
};

VolumeRecord evaluate_volume(std::span<const std::uint8_t> truth,
                             std::span<const std::uint8_t> predicted, const Shape& shape,
                             const Spacing& spacing, const EvaluationOptions& options);

}  // namespace lockstep::volume
