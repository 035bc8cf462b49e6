// RoIAlign, non-maximum suppression and boxes: torchvision's values, finite differences, layouts,
// and input that is none.
#include "fakes/detection_cases.h"
#include "fakes/error_of.h"
#include "fakes/fused_cases.h"
#include "ops/boxes/boxes.h"

#include <ATen/Parallel.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace lockstep {
namespace {

using testing::aligned_with_gradient, testing::drawn_boxes, testing::drawn_roi_cases,
    testing::NmsCase, testing::recorded_nms_cases, testing::recorded_roi_cases, testing::RoiCase,
    testing::Tensors;
using ::testing::HasSubstr;

constexpr auto last = at::MemoryFormat::ChannelsLast;

at::Tensor floats(const std::vector<float>& values) { return at::tensor(values); }

// |a - b|, the largest.
double difference(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  if (a.numel() == 0) return 0;
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

TEST(RoiAlign, IsTorchvisionsWithItsGradient) {
  const std::vector<RoiCase> cases = recorded_roi_cases();
  ASSERT_EQ(cases.size(), 8U);
  for (const RoiCase& test : cases) {
    const Tensors found = aligned_with_gradient(test, test.features);
    EXPECT_LT(difference(found[0], test.out), 2e-6) << test.name;
    EXPECT_LT(difference(found[1], test.of_features), 2e-5) << test.name;
    EXPECT_GT(test.out.abs().max().item<double>(), 0.01) << test.name;
  }
}

TEST(RoiAlign, IsTheSameInEveryLayoutAndItsResultLiesAsFeaturesDo) {
  for (const RoiCase& test : drawn_roi_cases()) {
    const at::Tensor plain = test.features, turned = plain.contiguous(last);
    const Tensors found = aligned_with_gradient(test, plain),
                  of_turned = aligned_with_gradient(test, turned);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(found[i].equal(of_turned[i])) << test.name << " #" << i;
      EXPECT_TRUE(found[i].is_contiguous()) << test.name << " #" << i;
      EXPECT_TRUE(of_turned[i].is_contiguous(turned.suggest_memory_format()))
          << test.name << " #" << i;
    }
  }
  const RoiCase test = recorded_roi_cases()[0];
  const at::Tensor wide = at::randn({3, 4, 9, 13}), view = wide.narrow(3, 1, 11).narrow(1, 1, 3);
  EXPECT_TRUE(aligned_with_gradient(test, view)[0].equal(
      aligned_with_gradient(test, view.contiguous())[0]));
}

TEST(RoiAlign, SumsLowPrecisionInF32AndRoundsOnce) {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf})
    for (const RoiCase& test : drawn_roi_cases()) {
      const at::Tensor rounded = test.features.to(type);
      const Tensors found = aligned_with_gradient(test, rounded);
      const at::Tensor wide =
          roi_align(rounded.to(at::kFloat), test.boxes, test.pictures, test.options);
      EXPECT_EQ(found[0].scalar_type(), type);
      EXPECT_EQ(found[1].scalar_type(), type);
      EXPECT_TRUE(found[0].equal(wide.to(type))) << test.name;
    }
}

TEST(RoiAlign, IsTheSameWithAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  for (const RoiCase& test : drawn_roi_cases()) {
    at::set_num_threads(1);
    const Tensors alone = aligned_with_gradient(test, test.features);
    at::set_num_threads(4);
    const Tensors shared = aligned_with_gradient(test, test.features);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(alone[i].equal(shared[i])) << test.name;
  }
  at::set_num_threads(before);
}

// The result is linear in features, so differences of any size will do.
TEST(RoiAlign, HasTheGradientOfFiniteDifferences) {
  for (RoiCase test : recorded_roi_cases()) {
    test.features = test.features.to(at::kDouble);
    const at::Tensor of_features = aligned_with_gradient(test, test.features)[1];
    const auto value = [&](const at::Tensor& features) {
      const at::Tensor out = roi_align(features, test.boxes, test.pictures, test.options);
      return (out * testing::gradient_for(out)).sum().item<double>();
    };
    for (std::int64_t place = 0; place < test.features.numel(); place += 31) {
      at::Tensor step = at::zeros_like(test.features);
      step.view(-1)[place] = 0.5;
      const double slope = value(test.features + step) - value(test.features - step);
      EXPECT_NEAR(slope, of_features.view(-1)[place].item<double>(), 1e-9)
          << test.name << " at " << place;
    }
  }
}

// Of the square of a linear function, in closed form.
TEST(RoiAlign, HasSecondDerivatives) {
  for (RoiCase test : recorded_roi_cases()) {
    const at::Tensor x = test.features.to(at::kDouble).requires_grad_();
    const auto apply = [&](const at::Tensor& features) {
      return roi_align(features, test.boxes, test.pictures, test.options);
    };
    const at::Tensor slope = torch::autograd::grad({apply(x).square().sum()}, {x}, {},
                                                   /*retain_graph=*/true, /*create_graph=*/true)[0];
    const at::Tensor found = torch::autograd::grad({slope.square().sum()}, {x})[0];
    // d/dx |2 AᵀA x|² = 8 (AᵀA)² x
    const auto twice = [&](const at::Tensor& at_x) {
      const at::Tensor leaf = at_x.detach().requires_grad_();
      return torch::autograd::grad({apply(leaf).square().sum()}, {leaf})[0] / 2;
    };
    EXPECT_TRUE(at::allclose(found, 8 * twice(twice(x)), 1e-9, 1e-9)) << test.name;
  }
}

TEST(RoiAlign, LeavesPaddingOut) {
  RoiCase test = recorded_roi_cases()[0];
  const Tensors without = aligned_with_gradient(test, test.features);
  // Boxes behind the others, whose gradient is not 0.
  const std::int64_t count = test.boxes.size(0);
  test.boxes = at::cat({test.boxes, test.boxes});
  test.pictures = at::cat({test.pictures, at::full({count}, -1, at::kLong)}).to(at::kInt);
  const Tensors with = aligned_with_gradient(test, test.features);
  EXPECT_TRUE(with[0].narrow(0, 0, count).equal(without[0]));
  EXPECT_TRUE(with[0].narrow(0, count, count).eq(0).all().item<bool>());
  EXPECT_TRUE(with[1].equal(without[1]));
}

TEST(RoiAlign, TakesBoxesThatAreNone) {
  const at::Tensor boxes = testing::odd_boxes();
  for (const std::int64_t sampling : {0, 2, 64})
    for (const bool aligned : {false, true})
      for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
        RoiCase test{.name = "odd",
                     .features = at::randn({1, 3, 4, 6}, type),
                     .boxes = boxes,
                     .pictures = at::zeros({boxes.size(0)}, at::kLong),
                     .options = {.height = 2,
                                 .width = 3,
                                 .spatial_scale = 0.25,
                                 .sampling_ratio = sampling,
                                 .aligned = aligned}};
        const Tensors found = aligned_with_gradient(test, test.features);
        EXPECT_TRUE(found[0].isfinite().all().item<bool>());
        EXPECT_TRUE(found[1].isfinite().all().item<bool>());
        EXPECT_TRUE(found[0].narrow(0, 0, 5).eq(0).all().item<bool>());  // not finite
      }
}

TEST(RoiAlign, RefusesShapesTypesAndPicturesByName) {
  const at::Tensor features = at::randn({2, 3, 4, 5}), boxes = at::rand({6, 4}),
                   pictures = at::zeros({6}, at::kLong);
  const auto refused = [&](const at::Tensor& f, const at::Tensor& b, const at::Tensor& p,
                           const RoiAlignOptions& options = {}) {
    return error_of([&] { roi_align(f, b, p, options); });
  };
  EXPECT_THAT(refused(features[0], boxes, pictures), HasSubstr("floating features [N, C, H, W]"));
  EXPECT_THAT(refused(features.to(at::kInt), boxes, pictures), HasSubstr("floating features"));
  EXPECT_THAT(refused(features, boxes.to(at::kDouble), pictures), HasSubstr("boxes f32 [R, 4]"));
  EXPECT_THAT(refused(features, boxes.view({4, 6}), pictures), HasSubstr("boxes f32 [R, 4]"));
  EXPECT_THAT(refused(features, boxes, pictures.narrow(0, 0, 5)), HasSubstr("each of 6 boxes"));
  EXPECT_THAT(refused(features, boxes, pictures.to(at::kFloat)), HasSubstr("i32 or i64 [R]"));
  EXPECT_THAT(refused(features, boxes, pictures + 2),
              HasSubstr("pictures of boxes must be below 2, but one is 2"));
  EXPECT_THAT(refused(features, boxes, pictures, {.height = 0}), HasSubstr("are 0 x 7"));
  EXPECT_THAT(refused(features, boxes, pictures, {.width = 257}), HasSubstr("are 7 x 257"));
  EXPECT_THAT(refused(features, boxes, pictures, {.sampling_ratio = -1}), HasSubstr("but is -1"));
  EXPECT_THAT(refused(features, boxes, pictures, {.spatial_scale = 0}), HasSubstr("but is 0"));
}

TEST(Nms, KeepsWhatTorchvisionKeeps) {
  const std::vector<NmsCase> cases = recorded_nms_cases();
  ASSERT_EQ(cases.size(), 13U);
  for (const NmsCase& test : cases) {
    EXPECT_TRUE(nms(test.boxes, test.scores, test.threshold, test.group).equal(test.kept))
        << test.name;
    for (const std::int64_t at_most : {std::int64_t{1}, std::int64_t{5}, test.boxes.size(0) + 3}) {
      const KeptBoxes kept =
          nms_padded(test.boxes, test.scores, test.threshold, at_most, test.group);
      const std::int64_t count = std::min(at_most, test.kept.size(0));
      ASSERT_EQ(kept.indices.sizes(), at::IntArrayRef({at_most})) << test.name;
      EXPECT_EQ(kept.count.item<std::int64_t>(), count) << test.name;
      EXPECT_TRUE(kept.indices.narrow(0, 0, count).equal(test.kept.narrow(0, 0, count)))
          << test.name;
      EXPECT_TRUE(kept.indices.narrow(0, count, at_most - count).eq(-1).all().item<bool>());
      EXPECT_TRUE(nms(test.boxes, test.scores, test.threshold, test.group, at_most)
                      .equal(test.kept.narrow(0, 0, count)))
          << test.name;
    }
  }
}

TEST(Nms, TakesSeveralSetsAtOnce) {
  const at::Tensor boxes = at::stack({drawn_boxes(70, 50), drawn_boxes(70, 20)}),
                   scores = at::rand({2, 70}), group = at::randint(0, 2, {2, 70}, at::kLong);
  const KeptBoxes both = nms_padded(boxes, scores, 0.2, 40, group);
  for (std::int64_t set = 0; set < 2; ++set) {
    const KeptBoxes one = nms_padded(boxes[set], scores[set], 0.2, 40, group[set]);
    EXPECT_TRUE(both.indices[set].equal(one.indices));
    EXPECT_TRUE(both.count[set].equal(one.count[0]));
    EXPECT_LT(one.count.item<std::int64_t>(), 41);
  }
  EXPECT_FALSE(both.count[0].equal(both.count[1]) && both.indices[0].equal(both.indices[1]));
}

TEST(Nms, TakesTheLowerIndexOfEqualScores) {
  const at::Tensor boxes = floats({0, 0, 4, 4, 0, 0, 4, 4, 9, 9, 12, 12}).view({3, 4});
  EXPECT_TRUE(nms(boxes, at::full({3}, 0.5F), 0.5).equal(at::tensor({0, 2}, at::kLong)));
  EXPECT_TRUE(nms(boxes, floats({0.1F, 0.2F, 0.2F}), 0.5).equal(at::tensor({1, 2}, at::kLong)));
}

TEST(Nms, LeavesOutWhatHasNoScore) {
  const float none = -std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const at::Tensor boxes = drawn_boxes(1, 10).expand({4, 4});
  EXPECT_TRUE(nms(boxes, floats({none, nan, 0.1F, 0.2F}), 0.5).equal(at::tensor({3}, at::kLong)));
  const KeptBoxes kept = nms_padded(boxes, at::full({4}, none), 0.5, 3);
  EXPECT_TRUE(kept.indices.eq(-1).all().item<bool>());
  EXPECT_EQ(kept.count.item<std::int64_t>(), 0);
}

TEST(Nms, TakesBoxesThatAreNoneAndNoBoxes) {
  const at::Tensor boxes = testing::odd_boxes();
  const at::Tensor kept = nms(boxes, at::rand({boxes.size(0)}), 0.5);
  EXPECT_EQ(kept.size(0), boxes.size(0));  // they overlap nothing
  EXPECT_EQ(nms(at::zeros({0, 4}), at::zeros({0}), 0.5).numel(), 0);
  const KeptBoxes none = nms_padded(at::zeros({2, 0, 4}), at::zeros({2, 0}), 0.5, 3);
  EXPECT_TRUE(none.indices.equal(at::full({2, 3}, -1, at::kLong)));
  EXPECT_TRUE(none.count.equal(at::zeros({2}, at::kLong)));
}

TEST(Nms, RefusesShapesAndTypesByName) {
  const at::Tensor boxes = at::rand({6, 4}), scores = at::rand({6});
  const auto refused = [&](const at::Tensor& b, const at::Tensor& s, double threshold = 0.5,
                           std::int64_t at_most = 3, const at::Tensor& group = {}) {
    return error_of([&] { nms_padded(b, s, threshold, at_most, group); });
  };
  EXPECT_THAT(refused(boxes.to(at::kDouble), scores), HasSubstr("boxes f32 [R, 4]"));
  EXPECT_THAT(refused(boxes[0], scores), HasSubstr("boxes f32 [R, 4]"));
  EXPECT_THAT(refused(boxes, scores.narrow(0, 0, 5)), HasSubstr("a score f32 for each"));
  EXPECT_THAT(refused(boxes, scores.to(at::kHalf)), HasSubstr("a score f32 for each"));
  EXPECT_THAT(refused(boxes, scores, 0.5, 3, scores), HasSubstr("a group i64 for each"));
  EXPECT_THAT(refused(boxes, scores, 0.5, 0), HasSubstr("at_most is 0"));
  EXPECT_THAT(refused(boxes, scores, std::nan("")), HasSubstr("is NaN"));
  EXPECT_THAT(error_of([&] {
                nms(at::rand({2, 6, 4}), at::rand({2, 6}), 0.5);
              }),
              HasSubstr("nms_padded takes several sets"));
}

// f64, of which none is so small that the logarithm of its size bends within a step.
at::Tensor solid_boxes(std::int64_t count) {
  return (drawn_boxes(count, 50) + floats({-2, -2, 2, 2})).to(at::kDouble);
}

TEST(Boxes, AreTorchvisions) {
  const auto recorded = testing::recorded_detection("boxes");
  const at::Tensor &a = recorded.at("a"), &b = recorded.at("b");
  const auto near = [&](const at::Tensor& found, const char* name) {
    EXPECT_LT(difference(found, recorded.at(name)), 1e-9) << name;
  };
  near(box_areas(a), "areas");
  near(box_ious(a, b), "ious");
  near(1 - generalised_ious(a.narrow(0, 0, 9), b), "giou_losses");
  near(clip_boxes(a, 60, 80), "clipped");
  near(xywh_of_corners(a), "xywh");
  near(corners_of_xywh(recorded.at("xywh")), "a");
  const BoxCoding coding{.weights = {10, 10, 5, 5}};
  near(encode_boxes(a.narrow(0, 0, 9), b, coding), "encoded");
  near(decode_boxes(recorded.at("deltas"), b, coding), "decoded");
  EXPECT_TRUE(grid_anchors({}, 3, 4).equal(recorded.at("anchors.0")));
  const AnchorGrid odd{.sizes = {16, 23, 45.5}, .ratios = {0.4, 1.3}, .stride_y = 7, .stride_x = 7};
  EXPECT_TRUE(grid_anchors(odd, 2, 5).equal(recorded.at("anchors.1")));
}

TEST(Boxes, ThatWereEncodedAreDecodedAgain) {
  const at::Tensor boxes = solid_boxes(20), anchors = solid_boxes(20);
  const BoxCoding coding{.weights = {10, 8, 5, 4}, .most_log_size = 20};
  EXPECT_LT(difference(decode_boxes(encode_boxes(boxes, anchors, coding), anchors, coding), boxes),
            1e-9);
  EXPECT_EQ(decode_boxes(boxes.to(at::kHalf), boxes.to(at::kFloat)).scalar_type(), at::kFloat);
}

TEST(Boxes, ThatAreEmptyHaveAnIouOf0) {
  const at::Tensor empty = at::full({1, 4}, 5.0F), one = floats({4, 4, 6, 6}).view({1, 4});
  const at::Tensor all = at::cat({empty, one});
  EXPECT_TRUE(box_ious(all, all).equal(floats({0, 0, 0, 1}).view({2, 2})));
  EXPECT_EQ(box_ious(at::rand({3, 5, 4}), at::rand({3, 2, 4})).sizes(), at::IntArrayRef({3, 5, 2}));
  EXPECT_THAT(error_of([&] { box_ious(all[0], all); }), HasSubstr("[..., A, 4]"));
  EXPECT_THAT(error_of([&] { box_areas(at::rand({4, 5})); }), HasSubstr("[..., 4]"));
  EXPECT_THAT(error_of([&] { grid_anchors({.sizes = {0}}, 1, 1); }), HasSubstr("above 0"));
}

// Of a sum of the results, by each number of each input.
TEST(Boxes, HaveTheGradientsOfFiniteDifferences) {
  const at::Tensor a = solid_boxes(6), b = solid_boxes(6), deltas = at::randn({6, 4}, at::kDouble);
  using Pair = std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>;
  const std::vector<std::pair<Pair, at::Tensor>> functions{
      {[](const auto& x, const auto& y) { return box_ious(x, y); }, a},
      {[](const auto& x, const auto& y) { return generalised_ious(x, y); }, a},
      {[](const auto& x, const auto& y) { return encode_boxes(x, y); }, a},
      {[](const auto& x, const auto& y) { return decode_boxes(x, y, {.most_log_size = 0.8}); },
       deltas}};
  for (std::size_t number = 0; number < functions.size(); ++number) {
    const auto& [function, first] = functions[number];
    const Tensors leaves = testing::leaves_of({first, b});
    const auto value = [&function = function](const Tensors& in) {
      const at::Tensor y = function(in[0], in[1]);
      return (y * testing::gradient_for(y)).sum();
    };
    const auto slopes = torch::autograd::grad({value(leaves)}, leaves);
    for (std::size_t i = 0; i < 2; ++i)
      for (std::int64_t place = 0; place < 24; ++place) {
        const auto moved = [&](double by) {
          Tensors in{leaves[0].detach().clone(), leaves[1].detach().clone()};
          in[i].view(-1)[place] += by;
          return value(in).item<double>();
        };
        const double slope = slopes[i].view(-1)[place].item<double>();
        EXPECT_NEAR((moved(1e-5) - moved(-1e-5)) / 2e-5, slope, 1e-4 * (1 + std::abs(slope)))
            << number << " by input " << i << " at " << place;
      }
  }
}

}  // namespace
}  // namespace lockstep
