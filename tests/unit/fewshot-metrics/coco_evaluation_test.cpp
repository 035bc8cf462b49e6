// The rules of COCO one by one, on boxes whose scores can be counted by hand.
#include "recipes/fewshot/metrics/coco_evaluation.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "fakes/error_of.h"

namespace lockstep::fewshot {
namespace {

using ::testing::HasSubstr;

constexpr double near = 1e-9;

TrueBox truth(std::int64_t picture, double x, double y, double width = 10, double height = 10) {
  return {.picture = picture,
          .category = 1,
          .x = x,
          .y = y,
          .width = width,
          .height = height,
          .area = width * height};
}

Detection found(std::int64_t picture, double x, double y, double score, double width = 10,
                double height = 10) {
  return {.picture = picture,
          .category = 1,
          .x = x,
          .y = y,
          .width = width,
          .height = height,
          .score = score};
}

using Truths = std::vector<TrueBox>;
using Detections = std::vector<Detection>;

DetectionResult result_of(const Truths& truths, const Detections& detections) {
  const std::vector<std::int64_t> categories{1};
  return evaluate_detections(truths, detections, categories);
}
DetectionSummary summary_of(const Truths& truths, const Detections& detections) {
  return summarize(result_of(truths, detections));
}

TEST(CocoEvaluation, ThresholdsAreNumpys) {
  const std::array<double, iou_count> ious{
      0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.8999999999999999, 0.95};
  EXPECT_EQ(iou_thresholds(), ious);
  EXPECT_EQ(recall_thresholds().front(), 0);
  EXPECT_EQ(recall_thresholds()[29], 0.29);
  EXPECT_EQ(recall_thresholds()[58], 0.58);
  EXPECT_EQ(recall_thresholds().back(), 1);
}

TEST(CocoEvaluation, BoxesFoundExactlyScoreOne) {
  const auto summary =
      summary_of({truth(1, 0, 0), truth(2, 50, 7)}, {found(1, 0, 0, 0.3), found(2, 50, 7, 0.9)});
  EXPECT_NEAR(summary.ap, 1, near);
  EXPECT_NEAR(summary.ap50, 1, near);
  EXPECT_NEAR(summary.ap_small, 1, near);
  EXPECT_EQ(summary.ap_medium, no_score);
  EXPECT_EQ(summary.ap_large, no_score);
  EXPECT_EQ(summary.ar_1, 1);
}

TEST(CocoEvaluation, PrecisionIsTheBestAtThatRecallOrMore) {
  // Right, wrong, right: precision 1, 1/2, 2/3 at recall 1/2, 1/2, 1.
  const auto result = result_of({truth(1, 0, 0), truth(1, 50, 0)},
                                {found(1, 0, 0, 0.9), found(1, 200, 0, 0.8), found(1, 50, 0, 0.7)});
  EXPECT_NEAR(result.precision_at(0, 50, 0), 1, near);
  EXPECT_NEAR(result.precision_at(0, 51, 0), 2.0 / 3, near);
  EXPECT_NEAR(result.precision_at(0, 100, 0), 2.0 / 3, near);
  EXPECT_NEAR(summarize(result).ap50, (51 + 50 * 2.0 / 3) / 101, near);
}

TEST(CocoEvaluation, PrecisionIsZeroBeyondTheRecallReached) {
  const auto result = result_of({truth(1, 0, 0), truth(1, 50, 0)}, {found(1, 0, 0, 0.9)});
  EXPECT_NEAR(result.precision_at(0, 50, 0), 1, near);
  EXPECT_EQ(result.precision_at(0, 51, 0), 0);
  EXPECT_EQ(result.recall_at(0, 0), 0.5);
}

TEST(CocoEvaluation, AnOverlapOfTheThresholdCounts) {
  // IoU 0.5 exactly, then a little less.
  EXPECT_EQ(result_of({truth(1, 0, 0)}, {found(1, 0, 0, 1, 10, 5)}).recall_at(0, 0), 1);
  EXPECT_EQ(result_of({truth(1, 0, 0)}, {found(1, 0, 0, 1, 10, 4.999)}).recall_at(0, 0), 0);
  const auto three_quarters = result_of({truth(1, 0, 0)}, {found(1, 0, 0, 1, 10, 7.5)});
  EXPECT_EQ(three_quarters.recall_at(5, 0), 1);
  EXPECT_EQ(three_quarters.recall_at(6, 0), 0);
}

TEST(CocoEvaluation, ASecondDetectionOfABoxIsWrong) {
  const auto summary = summary_of({truth(1, 0, 0), truth(1, 50, 0)},
                                  {found(1, 0, 0, 0.9), found(1, 0, 0, 0.8), found(1, 50, 0, 0.7)});
  EXPECT_NEAR(summary.ap50, (51 + 50 * 2.0 / 3) / 101, near);
}

TEST(CocoEvaluation, TheSurerDetectionTakesTheBox) {
  // The one with the better overlap comes second, and finds the box taken.
  const auto result =
      result_of({truth(1, 0, 0)}, {found(1, 0, 0, 0.6), found(1, 2, 0, 0.9)});  // IoU 1, 2/3
  EXPECT_NEAR(result.precision_at(0, 0, 0), 1, near);
  EXPECT_NEAR(result.precision_at(5, 0, 0), 0.5, near);  // at 0.75 the first one misses
}

TEST(CocoEvaluation, OfEqualOverlapsTheLaterBoxIsTaken) {
  // The first lies between both; the second fits the later one alone.
  const Detections detections{found(1, 2.5, 0, 0.9), found(1, 5, 0, 0.8)};
  EXPECT_EQ(result_of({truth(1, 0, 0), truth(1, 5, 0)}, detections).recall_at(0, 0), 0.5);
  EXPECT_EQ(result_of({truth(1, 5, 0), truth(1, 0, 0)}, detections).recall_at(0, 0), 1);
}

TEST(CocoEvaluation, OfEqualScoresTheEarlierDetectionCountsFirst) {
  const auto first_right = result_of({truth(1, 0, 0)}, {found(1, 0, 0, 0.5), found(1, 90, 0, 0.5)});
  const auto first_wrong = result_of({truth(1, 0, 0)}, {found(1, 90, 0, 0.5), found(1, 0, 0, 0.5)});
  EXPECT_NEAR(summarize(first_right).ap50, 1, near);
  EXPECT_NEAR(summarize(first_wrong).ap50, 0.5, near);
}

TEST(CocoEvaluation, OfEqualScoresTheLowerPictureCountsFirst) {
  const Detections detections{found(7, 90, 0, 0.5), found(-3, 0, 0, 0.5)};
  EXPECT_NEAR(summary_of({truth(-3, 0, 0)}, detections).ap50, 1, near);
  EXPECT_NEAR(summary_of({truth(7, 90, 0)}, {found(-3, 0, 0, 0.5), found(7, 90, 0, 0.5)}).ap50, 0.5,
              near);
}

TEST(CocoEvaluation, DetectionsOfPicturesWithoutTruthAreWrong) {
  EXPECT_NEAR(summary_of({truth(2, 0, 0)}, {found(1, 0, 0, 0.9), found(2, 0, 0, 0.5)}).ap50, 0.5,
              near);
}

TEST(CocoEvaluation, OnlyTheBestDetectionsOfAPictureCount) {
  Truths truths;
  Detections detections;
  for (int i = 0; i < 120; ++i) {
    truths.push_back(truth(1, 20 * i, 0));
    detections.push_back(found(1, 20 * i, 0, 1 + i * 0.001));
  }
  const auto summary = summary_of(truths, detections);
  EXPECT_NEAR(summary.ar_1, 1.0 / 120, near);
  EXPECT_NEAR(summary.ar_10, 10.0 / 120, near);
  EXPECT_NEAR(summary.ar_100, 100.0 / 120, near);
  // The limit is one of each picture.
  truths.push_back(truth(2, 0, 0));
  detections.push_back(found(2, 0, 0, 0.1));
  EXPECT_NEAR(summary_of(truths, detections).ar_1, 2.0 / 121, near);
}

TEST(CocoEvaluation, ACrowdIsNeitherMissedNorWrong) {
  TrueBox crowd = truth(1, 100, 0, 100, 100);
  crowd.crowd = true;
  // Two within the crowd: the overlap is over the detection's area. None of them counts.
  const auto summary =
      summary_of({truth(1, 0, 0), crowd},
                 {found(1, 110, 10, 0.9), found(1, 150, 50, 0.8), found(1, 0, 0, 0.5)});
  EXPECT_NEAR(summary.ap, 1, near);
  EXPECT_EQ(summary.ar_100, 1);
  EXPECT_EQ(summary_of({crowd}, {found(1, 110, 10, 0.9)}).ap, no_score);
}

TEST(CocoEvaluation, AnIgnoredBoxIsTakenOnce) {
  TrueBox ignored = truth(1, 100, 0);
  ignored.ignore = true;
  const Detections once{found(1, 100, 0, 0.9), found(1, 0, 0, 0.5)};
  EXPECT_NEAR(summary_of({ignored, truth(1, 0, 0)}, once).ap50, 1, near);
  const Detections twice{found(1, 100, 0, 0.9), found(1, 100, 0, 0.8), found(1, 0, 0, 0.5)};
  EXPECT_NEAR(summary_of({ignored, truth(1, 0, 0)}, twice).ap50, 0.5, near);
}

TEST(CocoEvaluation, ABoxThatCountsGoesBeforeOneThatDoesNot) {
  TrueBox ignored = truth(1, 0, 0);
  ignored.ignore = true;
  // The ignored one fits better.
  EXPECT_NEAR(summary_of({ignored, truth(1, 2, 0)}, {found(1, 0, 0, 0.9)}).ap50, 1, near);
}

TEST(CocoEvaluation, AreaRangesHaveBothEnds) {
  const TrueBox edge = truth(1, 0, 0, 32, 32);
  const auto on_edge = summary_of({edge}, {found(1, 0, 0, 1, 32, 32)});
  EXPECT_NEAR(on_edge.ap_small, 1, near);
  EXPECT_NEAR(on_edge.ap_medium, 1, near);
  EXPECT_EQ(on_edge.ap_large, no_score);
  const auto large = summary_of({truth(1, 0, 0, 96, 96)}, {found(1, 0, 0, 1, 96, 96)});
  EXPECT_NEAR(large.ap_medium, 1, near);
  EXPECT_NEAR(large.ap_large, 1, near);
  EXPECT_EQ(large.ap_small, no_score);
}

TEST(CocoEvaluation, TheAreaIsThatOfTheObjectNotOfItsBox) {
  TrueBox thin = truth(1, 0, 0, 200, 200);
  thin.area = 500;
  const auto summary = summary_of({thin}, {found(1, 0, 0, 1, 200, 200)});
  EXPECT_NEAR(summary.ap_small, 1, near);
  EXPECT_EQ(summary.ap_large, no_score);
}

TEST(CocoEvaluation, WhatFindsNothingCountsInTheRangeOfItsOwnSize) {
  const Truths truths{truth(1, 0, 0, 10, 10), truth(1, 100, 100, 50, 50)};
  const auto summary = summary_of(truths, {found(1, 500, 0, 0.9, 50, 50), found(1, 0, 0, 0.8),
                                           found(1, 100, 100, 0.7, 50, 50)});
  EXPECT_NEAR(summary.ap_small, 1, near);
  EXPECT_NEAR(summary.ap_medium, 0.5, near);
}

TEST(CocoEvaluation, AClassWithoutTruthCountsForNothing) {
  const std::vector<std::int64_t> categories{9, 1, 9};
  Detection other = found(1, 0, 0, 0.9);
  other.category = 9;
  const Truths truths{truth(1, 0, 0)};
  const Detections detections{other, found(1, 0, 0, 0.5)};
  const DetectionResult result = evaluate_detections(truths, detections, categories);
  EXPECT_EQ(result.categories, (std::vector<std::int64_t>{1, 9}));
  EXPECT_NEAR(summarize(result).ap, 1, near);
  const std::int64_t nine = 9, one = 1;
  EXPECT_EQ(summarize(result, {&nine, 1}).ap, no_score);
  EXPECT_EQ(summarize(result, {&nine, 1}).ar_100, no_score);
  EXPECT_NEAR(summarize(result, {&one, 1}).ap, 1, near);
  EXPECT_EQ(score_text(summarize(result, {&nine, 1}).ap), "-");
  EXPECT_EQ(score_text(0.41349), "0.413");
  EXPECT_EQ(score_text(std::nan("")), "-");
}

TEST(CocoEvaluation, BoxesOfOtherClassesAreLeftOut) {
  TrueBox other = truth(1, 0, 0);
  other.category = 2;
  const auto summary = summary_of({truth(1, 50, 0), other}, {found(1, 50, 0, 0.9)});
  EXPECT_NEAR(summary.ap, 1, near);
}

TEST(CocoEvaluation, WithoutDetectionsAllIsMissed) {
  const auto summary = summary_of({truth(1, 0, 0)}, {});
  EXPECT_EQ(summary.ap, 0);
  EXPECT_EQ(summary.ar_100, 0);
}

TEST(CocoEvaluation, WithoutAnythingThereIsNoScore) {
  EXPECT_EQ(summarize(evaluate_detections({}, {}, {})).ap, no_score);
  EXPECT_EQ(summary_of({}, {}).ap, no_score);
}

TEST(CocoEvaluation, EmptyBoxesOverlapNothing) {
  const auto summary = summary_of({truth(1, 0, 0, 0, 10)}, {found(1, 0, 0, 0.9, 0, 10)});
  EXPECT_EQ(summary.ap, 0);
}

TEST(CocoEvaluation, NumbersThatAreNotFiniteAreErrors) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(error_of([&] {
                summary_of({}, {found(4, 0, 0, 0.1), found(4, 0, 0, nan)});
              }),
              HasSubstr("detection 1 (picture 4, category 1)"));
  EXPECT_THAT(error_of([&] { summary_of({truth(4, 0, INFINITY)}, {}); }),
              HasSubstr("ground truth 0"));
}

TEST(CocoEvaluation, ScoresHaveNames) {
  const auto list = score_list(summary_of({truth(1, 0, 0)}, {found(1, 0, 0, 1)}), "novel_");
  ASSERT_EQ(list.size(), 12u);
  EXPECT_EQ(list[1].name, "novel_ap50");
  EXPECT_NEAR(list[1].value, 1, near);
  EXPECT_EQ(list[5].name, "novel_ap_large");
  EXPECT_TRUE(std::isnan(list[5].value));
}

// 5,000 pictures, 80 classes, 36,000 boxes and as many detections, as large as COCO's validation.
TEST(CocoEvaluation, TakesSecondsForAllOfCoco) {
  std::mt19937 random(3);
  const auto upto = [&](double most) {
    return std::uniform_real_distribution<double>(0, most)(random);
  };
  Truths truths;
  Detections detections;
  std::vector<std::int64_t> categories;
  for (int k = 0; k < 80; ++k) categories.push_back(k);
  for (int i = 0; i < 36'000; ++i) {
    TrueBox box = truth(static_cast<std::int64_t>(upto(5000)), upto(500), upto(500), 5 + upto(200),
                        5 + upto(200));
    box.category = static_cast<std::int64_t>(upto(80));
    truths.push_back(box);
    Detection one =
        found(box.picture, box.x + upto(20), box.y + upto(20), upto(1), box.width, box.height);
    one.category = box.category;
    detections.push_back(one);
  }
  const auto start = std::chrono::steady_clock::now();
  const DetectionSummary summary = summarize(evaluate_detections(truths, detections, categories));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_GT(summary.ap50, 0.3);
  EXPECT_LT(summary.ap50, 0.99);
  RecordProperty("seconds", std::to_string(took.count()));
  EXPECT_LT(took.count(), 20);  // 0.2 s on one core; sanitizers take more
}

}  // namespace
}  // namespace lockstep::fewshot
