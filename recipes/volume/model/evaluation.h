// How good a prediction of one volume is, as a record of numbers.
#pragma once

#include "engine/recipe.h"
#include "recipes/volume/metrics/mask.h"
#include "recipes/volume/metrics/overlap.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep::volume {

struct EvaluationOptions {
  std::int64_t classes = 1;  // 1: foreground or not
  std::optional<std::int64_t> ignore;
  bool topology = true;  // SurfaceDice, VOI and topology, of one class
  double tolerance = 2;
  bool tolerance_mm = false;
};

// Of one volume.
struct VolumeRecord {
  std::vector<OverlapCounts> classes;                                     // background too
  double score = 0, surface_dice = 0, voi_score = 0, topology_score = 0;  // NaN: not asked for

  double dice() const;  // mean over the classes from 1 on
  double iou() const;
};

VolumeRecord evaluate_volume(std::span<const std::uint8_t> truth,
                             std::span<const std::uint8_t> predicted, const Shape& shape,
                             const Spacing& spacing, const EvaluationOptions& options);

// f64 [4 + 3 * classes].
at::Tensor to_tensor(const VolumeRecord& record);
VolumeRecord record_from(const at::Tensor& numbers);

// Means over the volumes.
std::vector<Metric> volume_metrics(const std::vector<VolumeRecord>& records, bool topology);
// A row per volume; ids: as many.
ItemTable volume_table(const std::vector<VolumeRecord>& records,
                       const std::vector<std::string>& ids, bool topology);

}  // namespace lockstep::volume
