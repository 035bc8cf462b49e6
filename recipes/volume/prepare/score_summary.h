// Makes the summary.json of scored volumes, in the form of nnU-Net's evaluation.
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
  std::vector<OverlapCounts> classes;               // including the background
  std::vector<std::optional<double>> hausdorff_95;  // for classes from 1 on
};

// Returns an object with these members, as in nnU-Net's summary.json. unit: the unit of HD95.
//   metric_per_case   the metrics of each volume and class; classes are "1", "2", …
//   mean              for each class, the means over volumes
//   foreground_mean   the means of `mean` over classes
// The metrics are Dice, IoU, TP, FP, FN, TN, n_pred and n_ref, as in nnU-Net, and also HD95. Dice
// and IoU are undefined if neither volume has the class. HD95 is undefined unless both have it. An
// undefined value is null, and is left out of the mean over volumes. If a class has no value at
// all, the mean over classes is null, as in nnU-Net.
nlohmann::json summary_of(const std::vector<ScoredCase>& cases, const std::string& unit);

// Whether a file may be replaced: whether it is absent, or summary_of() made its content.
bool may_replace_summary(const std::filesystem::path& file);

}  // namespace lockstep::volume
