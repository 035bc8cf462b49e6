// Average precision and recall of boxes by COCO's rules. Gives the same numbers as pycocotools'
// COCOeval with iouType "bbox".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "planning/recipe_info.h"
#include "recipes/fewshot/metrics/boxes.h"

namespace lockstep::fewshot {

inline constexpr std::size_t iou_count = 10, recall_count = 101, area_count = 4, limit_count = 3;
// small: up to 32² square pixels; medium: up to 96²; large: above. Both ends belong to a range.
enum class AreaRange : std::uint8_t { all, small, medium, large };
// How many detections of a class count in one picture: those with the highest scores.
enum class DetectionLimit : std::uint8_t { best_1, best_10, best_100 };
inline constexpr std::array<int, limit_count> detection_limits{1, 10, 100};

const std::array<double, iou_count>& iou_thresholds();        // 0.50, 0.55 … 0.95
const std::array<double, recall_count>& recall_thresholds();  // 0, 0.01 … 1

inline constexpr double no_score = -1;  // if there is no ground truth

struct DetectionResult {
  std::vector<std::int64_t> categories;  // K, ascending
  std::vector<double> precision;         // [iou, recall, K, area, limit], or no_score
  std::vector<double> recall;            // [iou, K, area, limit], or no_score

  double precision_at(std::size_t iou, std::size_t recall_place, std::size_t category,
                      AreaRange area = AreaRange::all,
                      DetectionLimit limit = DetectionLimit::best_100) const;
  double recall_at(std::size_t iou, std::size_t category, AreaRange area = AreaRange::all,
                   DetectionLimit limit = DetectionLimit::best_100) const;
};

// Boxes of classes that are not in `categories` (ids, each counted once) are left out. Among equal
// scores, the lower picture id comes first, then the earlier detection. A detection's area is width
// x height. Throws Error, with the place in the list, for numbers that are not finite.
DetectionResult evaluate_detections(std::span<const TrueBox> truths,
                                    std::span<const Detection> detections,
                                    std::span<const std::int64_t> categories);

// Means over the classes that have ground truth; no_score if none has. AP is the mean over IoU and
// recall thresholds; ar is the mean recall over IoU thresholds.
struct DetectionSummary {
  double ap = no_score, ap50 = no_score, ap75 = no_score;
  double ap_small = no_score, ap_medium = no_score, ap_large = no_score;
  double ar_1 = no_score, ar_10 = no_score, ar_100 = no_score;
  double ar_small = no_score, ar_medium = no_score, ar_large = no_score;
};
DetectionSummary summarize(const DetectionResult& result);
// The summary of only some classes: base, novel, a single one. Classes that the result lacks are
// ignored.
DetectionSummary summarize(const DetectionResult& result, std::span<const std::int64_t> categories);

// Scores with the names ap, ap50, ap75, ap_small … ar_large, preceded by `prefix` ("novel_"). NaN
// for no_score.
std::vector<Score> score_list(const DetectionSummary& summary, const std::string& prefix = "");

// "0.413"; "-" for no_score and NaN.
std::string score_text(double score);

}  // namespace lockstep::fewshot
