// summary.json of a set of scored volumes, in the form of nnU-Net's evaluation.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recipes/volume/metrics/overlap.h"

namespace lockstep::volume {

// A volume compared with its prediction.
struct ScoredCase {
  std::filesystem::path prediction, reference;
  std::vector<OverlapCounts> classes;               // with the background
  std::vector<std::optional<double>> hausdorff_95;  // for classes from 1 on
};

// The same form as nnU-Net's summary.json: "metric_per_case", and means over cases per class
// ("mean") and over classes ("foreground_mean"). Each has Dice, IoU, TP, FP, FN, TN, n_pred and
// n_ref, and also HD95. Classes are "1", "2", …. An undefined value is null, and is left out of the
// mean over cases. Dice and IoU are undefined if neither volume has the class. HD95 is undefined
// unless both have it. If a class has no value, the mean over classes is null, as in nnU-Net. unit:
// the unit of HD95.
nlohmann::json summary_of(const std::vector<ScoredCase>& cases, const std::string& unit);

// Whether a file may be replaced: it is absent, or `summary_of` made its content.
bool may_replace_summary(const std::filesystem::path& file);

}  // namespace lockstep::volume
