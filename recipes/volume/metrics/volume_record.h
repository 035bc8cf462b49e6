// Computes all scores of the recipe for the prediction of one volume.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "recipes/volume/metrics/mask.h"
#include "recipes/volume/metrics/overlap.h"

namespace lockstep::volume {

struct EvaluationOptions {
  std::int64_t classes = 1;  // 1: foreground, besides the background
  std::optional<std::int64_t> ignore;
  // whether to compute the score of score.h and its parts; only possible if classes is 1
  bool topology = true;
  double tolerance = 2;
  bool tolerance_mm = false;
};

// The scores of one volume.
struct VolumeRecord {
  std::vector<OverlapCounts> classes;  // one per class, including the background
  double score = 0, surface_dice = 0, voi_score = 0, topology_score = 0;  // NaN if not computed

  double dice() const;  // mean over the classes from 1 on
  double iou() const;
};

VolumeRecord evaluate_volume(std::span<const std::uint8_t> truth,
                             std::span<const std::uint8_t> predicted, const Shape& shape,
                             const Spacing& spacing, const EvaluationOptions& options);

}  // namespace lockstep::volume
