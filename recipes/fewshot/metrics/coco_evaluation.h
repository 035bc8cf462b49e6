// Computes average precision and recall of boxes by COCO's rules. The results equal those of
// pycocotools' COCOeval with iouType "bbox".
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
// small: at most 32² square pixels. medium: from 32² to 96². large: at least 96². An area of
// exactly 32² or 96² belongs to the ranges on both sides.
enum class AreaRange : std::uint8_t { all, small, medium, large };
// How many detections of one class are evaluated in one picture, at most. If there are more, those
// with the highest scores are evaluated.
enum class DetectionLimit : std::uint8_t { best_1, best_10, best_100 };
inline constexpr std::array<int, limit_count> detection_limits{1, 10, 100};

const std::array<double, iou_count>& iou_thresholds();        // 0.50, 0.55 … 0.95
const std::array<double, recall_count>& recall_thresholds();  // 0, 0.01 … 1

inline constexpr double no_score = -1;  // the score of classes and area ranges without ground truth

struct DetectionResult {
  std::vector<std::int64_t> categories;  // [K]: the ids of the K evaluated classes, ascending
  std::vector<double> precision;         // [iou, recall, K, area, limit]; may be no_score
  std::vector<double> recall;            // [iou, K, area, limit]; may be no_score

  double precision_at(std::size_t iou, std::size_t recall_place, std::size_t category,
                      AreaRange area = AreaRange::all,
                      DetectionLimit limit = DetectionLimit::best_100) const;
  double recall_at(std::size_t iou, std::size_t category, AreaRange area = AreaRange::all,
                   DetectionLimit limit = DetectionLimit::best_100) const;
};

// Evaluates detections against the ground truth. categories: ids of classes; repeated ids are
// ignored. Boxes of other classes are left out. Detections with equal scores are ordered by picture
// id, then by their order in `detections`. A detection's area is width x height. Throws Error for
// numbers that are not finite; the message has the index of the box.
DetectionResult evaluate_detections(std::span<const TrueBox> truths,
                                    std::span<const Detection> detections,
                                    std::span<const std::int64_t> categories);

// Means over the classes that have ground truth, or no_score if no class has ground truth. ap: mean
// precision over all IoU and recall thresholds. ap50, ap75: mean precision at the IoU threshold
// 0.50 or 0.75. ar_N: mean recall over IoU thresholds, with at most N detections per picture and
// class. Members that end in _small, _medium or _large are the same means over boxes of that
// AreaRange only.
struct DetectionSummary {
  double ap = no_score, ap50 = no_score, ap75 = no_score;
  double ap_small = no_score, ap_medium = no_score, ap_large = no_score;
  double ar_1 = no_score, ar_10 = no_score, ar_100 = no_score;
  double ar_small = no_score, ar_medium = no_score, ar_large = no_score;
};
DetectionSummary summarize(const DetectionResult& result);
// Returns the summary of some classes only, such as the base classes. Classes that the result lacks
// are ignored.
DetectionSummary summarize(const DetectionResult& result, std::span<const std::int64_t> categories);

// Returns scores with the names ap, ap50, ap75, ap_small … ar_large, each preceded by `prefix`
// (such as "novel_"). The value no_score becomes NaN.
std::vector<Score> score_list(const DetectionSummary& summary, const std::string& prefix = "");

// Returns text like "0.413", or "-" for no_score and NaN.
std::string score_text(double score);

}  // namespace lockstep::fewshot
