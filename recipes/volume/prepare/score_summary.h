// Makes the file summary.json of scored volumes, in the form of nnU-Net's evaluation.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recipes/volume/metrics/overlap.h"

namespace lockstep::volume {

// The scores of one volume.
struct ScoredCase {
  std::filesystem::path prediction, reference;
  std::vector<OverlapCounts> classes;               // one per class, including the background
  std::vector<std::optional<double>> hausdorff_95;  // one per class from 1 on
};

// Returns an object with the members below, as in nnU-Net's summary.json. unit: the unit of the
// Hausdorff distance HD95 (metrics/hausdorff.h).
//   metric_per_case   the metrics of each volume and class; classes are "1", "2", …
//   mean              for each class, the means over volumes
//   foreground_mean   the means of `mean` over classes
// The metrics are Dice, IoU, TP, FP, FN, TN, n_pred and n_ref, as in nnU-Net, and also HD95. Dice
// and IoU are undefined if neither prediction nor reference has the class. HD95 is undefined unless
// both have it. An undefined value is null, and is left out of the mean over volumes. If a metric
// is undefined for a class in all volumes, its mean over classes is null, as in nnU-Net.
nlohmann::json summary_of(const std::vector<ScoredCase>& cases, const std::string& unit);

// Returns whether a file may be replaced: whether it is absent, or its content is from
// summary_of().
bool may_replace_summary(const std::filesystem::path& file);

}  // namespace lockstep::volume
