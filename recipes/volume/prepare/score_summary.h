// summary.json of a set of scored volumes, in the form of nnU-Net's evaluation.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recipes/volume/metrics/overlap.h"

namespace lockstep::volume {

// A volume and its prediction, compared.
struct ScoredCase {
  std::filesystem::path prediction, reference;
  std::vector<OverlapCounts> classes;               // background too
  std::vector<std::optional<double>> hausdorff_95;  // of classes from 1 on
};

// As nnU-Net's summary.json: "metric_per_case", the means over cases per class ("mean") and over
// classes ("foreground_mean"). Each has Dice, IoU, TP, FP, FN, TN, n_pred and n_ref, and also HD95.
// Classes are "1", "2", …. A value that is not defined is null, and is left out of the mean over
// cases. Undefined are Dice and IoU of a class that is in neither, and HD95 of one that is in only
// one of both. A class that has no value makes the mean over classes null, as in nnU-Net. unit: of
// HD95.
nlohmann::json summary_of(const std::vector<ScoredCase>& cases, const std::string& unit);

// Whether a file can be replaced: it is absent, or holds what `summary_of` made.
bool may_replace_summary(const std::filesystem::path& file);

}  // namespace lockstep::volume
