#include "recipes/fewshot/model/regions.h"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace lockstep::fewshot {
namespace {

at::Tensor boxes(const std::vector<std::vector<float>>& rows) {
  at::Tensor result = at::zeros({1, static_cast<std::int64_t>(rows.size()), 4});
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < 4; ++j)
      result[0][static_cast<std::int64_t>(i)][static_cast<std::int64_t>(j)] = rows[i][j];
  return result;
}

at::Tensor labels(const std::vector<std::int64_t>& values) {
  return at::tensor(values, at::kLong).unsqueeze(0);
}

std::vector<bool> flags(const at::Tensor& row) {
  std::vector<bool> all;
  for (std::int64_t i = 0; i < row.size(0); ++i) all.push_back(row[i].item<bool>());
  return all;
}

TEST(MatchAnchors, TakesThoseThatCoverABoxOfTheClassAndItsBestOne) {
  const at::Tensor anchors =
      boxes({{0, 0, 10, 10},        // the box of class 0 itself
             {0, 0, 10, 8},         // IoU 0.8 with it
             {0, 0, 10, 5},         // 0.5: neither
             {100, 100, 110, 110},  // IoU 0.25 with the box of class 1, its best
             {50, 50, 60, 60}})[0];
  const Truth truth{boxes({{0, 0, 10, 10}, {100, 100, 120, 120}, {0, 0, 0, 0}}),
                    labels({0, 1, no_box})};
  const Targets targets = match_anchors(anchors, truth, 2);
  EXPECT_EQ(flags(targets.positive[0][0]), std::vector<bool>({true, true, false, false, false}));
  EXPECT_EQ(flags(targets.positive[0][1]), std::vector<bool>({false, false, false, true, false}));
  EXPECT_TRUE(targets.box[0][1][3].equal(truth.boxes[0][1]));
  // Of class 0 the third anchor counts nowhere; the two others are background.
  EXPECT_EQ(targets.weight[0][0][2].item<float>(), 0);
  EXPECT_GT(targets.weight[0][0][3].item<float>(), 0);
}

TEST(MatchAnchors, LeavesOutWhatLiesInABoxToIgnore) {
  const at::Tensor anchors = boxes({{0, 0, 10, 10}, {40, 40, 50, 50}, {20, 20, 30, 30}})[0];
  const Truth truth{boxes({{0, 0, 10, 10}, {38, 38, 60, 60}}), labels({0, ignore_box})};
  const Targets targets = match_anchors(anchors, truth, 1);
  EXPECT_EQ(flags(targets.positive[0][0]), std::vector<bool>({true, false, false}));
  EXPECT_EQ(targets.weight[0][0][1].item<float>(), 0);
  EXPECT_GT(targets.weight[0][0][2].item<float>(), 0);
}

TEST(MatchAnchors, SharesWeightsAsDrawingWould) {
  // 8 positives and 1,000 negatives, of which 16 are drawn: 8 of each.
  std::vector<std::vector<float>> rows(8, {0, 0, 10, 10});
  for (int i = 0; i < 1000; ++i) {
    const auto x = static_cast<float>(20 + i);
    rows.push_back({x, 50, x + 5, 55});
  }
  const Truth truth{boxes({{0, 0, 10, 10}}), labels({0})};
  const Targets targets = match_anchors(boxes(rows)[0], truth, 1, /*drawn=*/16);
  const at::Tensor weight = targets.weight[0][0];
  EXPECT_NEAR(weight.narrow(0, 0, 8).sum().item<float>(), 0.5, 1e-5);
  EXPECT_NEAR(weight.sum().item<float>(), 1, 1e-5);
  // Three rows are less than would be drawn.
  const Targets few = match_anchors(boxes({{0, 0, 10, 10}, {50, 50, 60, 60}, {70, 70, 80, 80}})[0],
                                    truth, 1, /*drawn=*/16);
  EXPECT_NEAR(few.weight.sum().item<float>(), 3.0 / 16, 1e-6);
}

TEST(MatchRegions, GivesClassesBackgroundAndNothing) {
  const at::Tensor regions =
      boxes({{0, 0, 10, 9}, {0, 0, 10, 4}, {50, 50, 60, 60}, {80, 80, 90, 90}, {0, 0, 10, 10}});
  const at::Tensor known = at::tensor({1, 1, 1, 1, 0}).to(at::kBool).unsqueeze(0);
  const Truth truth{boxes({{0, 0, 10, 10}, {78, 78, 95, 95}}), labels({1, ignore_box})};
  const RegionTargets targets = match_regions(regions, known, truth, 3, 128);
  EXPECT_EQ(flags(targets.rows.positive[0]), std::vector<bool>({true, false, false, false, false}));
  EXPECT_EQ(targets.label[0][0].item<std::int64_t>(), 1);
  EXPECT_EQ(targets.label[0][1].item<std::int64_t>(), 3);  // IoU 0.4: background
  EXPECT_GT(targets.rows.weight[0][1].item<float>(), 0);
  EXPECT_EQ(targets.rows.weight[0][3].item<float>(), 0);  // in a box to ignore
  EXPECT_EQ(targets.rows.weight[0][4].item<float>(), 0);  // not known
}

TEST(Propose, GivesTheMostLikelyApartFromEachOther) {
  const at::Tensor anchors =
      boxes({{0, 0, 10, 10}, {0, 0, 10, 9}, {20, 20, 30, 30}, {-5, 40, 5, 50}})[0];
  // Two classes; the second one's scores are highest for the first and the last anchor.
  const at::Tensor objectness =
      at::tensor({-9.0F, 1.0F, 2.0F, -9.0F, 3.0F, -9.0F, -9.0F, 0.0F}).view({1, 2, 4});
  const Proposals found = propose(anchors, objectness, at::zeros({1, 2, 4, 4}), 64, 64, 10);
  ASSERT_EQ(found.boxes.sizes(), (std::vector<std::int64_t>{1, 10, 4}));
  EXPECT_EQ(found.known.sum().item<std::int64_t>(), 3);
  EXPECT_TRUE(found.boxes[0][0].equal(anchors[0]));
  EXPECT_TRUE(found.boxes[0][1].equal(anchors[2]));
  EXPECT_TRUE(found.boxes[0][2].equal(boxes({{0, 40, 5, 50}})[0][0]));  // within the picture
  EXPECT_EQ(found.boxes[0][9].abs().sum().item<float>(), 0);
}

TEST(AnchorsOfMaps, AreMadeOncePerShape) {
  Anchors anchors(DetectorShape{});
  const at::Tensor map = at::zeros({2, 8, 3, 5});
  const at::Tensor first = anchors.of(map);
  EXPECT_EQ(first.sizes(), (std::vector<std::int64_t>{3 * 5 * 15, 4}));
  EXPECT_TRUE(anchors.of(at::zeros({1, 4, 3, 5})).is_same(first));
  EXPECT_FALSE(anchors.of(at::zeros({1, 4, 5, 3})).is_same(first));
}

}  // namespace
}  // namespace lockstep::fewshot
