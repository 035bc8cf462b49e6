// Random files of ground truth with the numbers that pycocotools gives for them:
// recorded/coco_cases.json, which tests/process/python/fewshot_scores_test.py --record wrote.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "checkout_paths.h"
#include "core/base/files/files.h"
#include "recipes/fewshot/metrics/coco_evaluation.h"
#include "recipes/fewshot/sets/truth.h"

namespace lockstep::fewshot {
namespace {

constexpr double recorded_near = 1e-12;

// [value, how many times, …]
std::vector<double> unpacked(const nlohmann::json& runs) {
  std::vector<double> values;
  for (std::size_t i = 0; i + 1 < runs.size(); i += 2)
    values.insert(values.end(), runs[i + 1].get<std::size_t>(), runs[i].get<double>());
  return values;
}

void expect_near(const std::vector<double>& ours, const std::vector<double>& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) ASSERT_NEAR(ours[i], theirs[i], recorded_near) << i;
}

DetectionResult evaluated(const nlohmann::json& one) {
  const GroundTruth truth = parse_truth(one["truth"].dump(), "truth.json");
  std::vector<Detection> detections;
  for (const nlohmann::json& box : one["results"])
    detections.push_back({.picture = box["image_id"],
                          .category = box["category_id"],
                          .x = box["bbox"][0],
                          .y = box["bbox"][1],
                          .width = box["bbox"][2],
                          .height = box["bbox"][3],
                          .score = box["score"]});
  return evaluate_detections(truth.boxes, detections, truth.category_ids());
}

// Over recall, in the order [iou, K, area, limit].
std::vector<double> mean_precision(const DetectionResult& result) {
  std::vector<double> means;
  for (std::size_t t = 0; t < iou_count; ++t)
    for (std::size_t k = 0; k < result.categories.size(); ++k)
      for (std::size_t a = 0; a < area_count; ++a)
        for (std::size_t m = 0; m < limit_count; ++m) {
          double sum = 0;
          for (std::size_t r = 0; r < recall_count; ++r)
            sum += result.precision_at(t, r, k, static_cast<AreaRange>(a),
                                       static_cast<DetectionLimit>(m));
          means.push_back(sum / recall_count);
        }
  return means;
}

TEST(RecordedCases, HaveTheNumbersOfPycocotools) {
  const auto cases =
      nlohmann::json::parse(read_file(std::filesystem::path(LOCKSTEP_SOURCE_DIR) /
                                      "tests/unit/fewshot-sets/recorded/coco_cases.json"));
  ASSERT_EQ(cases.size(), 10u);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const nlohmann::json& expected = cases[i]["expected"];
    const DetectionResult result = evaluated(cases[i]);
    const DetectionSummary s = summarize(result);
    expect_near({s.ap, s.ap50, s.ap75, s.ap_small, s.ap_medium, s.ap_large, s.ar_1, s.ar_10,
                 s.ar_100, s.ar_small, s.ar_medium, s.ar_large},
                expected["stats"]);
    expect_near(result.recall, unpacked(expected["recall"]));
    expect_near(mean_precision(result), unpacked(expected["mean_precision"]));
    for (std::size_t t = 0; t < iou_count; ++t)
      for (std::size_t k = 0; k < result.categories.size(); ++k) {
        std::vector<double> precision;
        for (std::size_t r = 0; r < recall_count; ++r)
          precision.push_back(result.precision_at(t, r, k));
        expect_near(precision, unpacked(expected["precision"][t][k]));
      }
  }
}

}  // namespace
}  // namespace lockstep::fewshot
