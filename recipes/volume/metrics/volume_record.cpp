#include "recipes/volume/metrics/volume_record.h"

#include <algorithm>
#include <limits>

#include "recipes/volume/metrics/score.h"

namespace lockstep::volume {

double VolumeRecord::dice() const { return mean_dice(classes, 1); }
double VolumeRecord::iou() const { return mean_iou(classes, 1); }

VolumeRecord evaluate_volume(std::span<const std::uint8_t> truth,
                             std::span<const std::uint8_t> predicted, const Shape& shape,
                             const Spacing& spacing, const EvaluationOptions& options) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  VolumeRecord record{
      .classes = overlap<std::uint8_t>(truth, predicted,
                                       static_cast<int>(std::max<std::int64_t>(2, options.classes)),
                                       options.ignore),
      .score = none,
      .surface_dice = none,
      .voi_score = none,
      .topology_score = none};
  if (!options.topology || options.classes != 1) return record;
  ScoreOptions how;
  how.ignore = options.ignore;
  how.tolerance = options.tolerance;
  if (options.tolerance_mm) how.spacing = spacing;
  const VolumeScore found = competition_score<std::uint8_t>(truth, predicted, shape, how);
  record.score = found.score;
  record.surface_dice = found.surface_dice;
  record.voi_score = found.voi_score;
  record.topology_score = found.topology_score;
  return record;
}

}  // namespace lockstep::volume
