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
  std::int64_t classes = 1;  // 1 means foreground and background
  std::optional<std::int64_t> ignore;
  // whether to compute `score` and its parts (score.h); they need classes = 1
  bool topology = true;
  double tolerance = 2;
  bool tolerance_mm = false;
};

// The scores of one volume.
struct VolumeRecord {
  std::vector<OverlapCounts> classes;  // including the background
  double score = 0, surface_dice = 0, voi_score = 0, topology_score = 0;  // NaN if not computed

  double dice() const;  // mean over classes from 1 on
  double iou() const;
};

VolumeRecord evaluate_volume(std::span<const std::uint8_t> truth,
                             std::span<const std::uint8_t> predicted, const Shape& shape,
                             const Spacing& spacing, const EvaluationOptions& options);

}  // namespace lockstep::volume
