// What a detector's heads are made of: rows of one length, two convolutions as one product, chosen
// boxes, regions that are matched.
#include "fakes/detection_cases.h"
#include "fakes/error_of.h"
#include "ops/boxes/boxes.h"
#include "ops/channel_products/channel_products.h"
#include "ops/chosen_boxes/chosen_boxes.h"
#include "ops/gradient_buffer/gradient_registry.h"
#include "ops/match_boxes/match_boxes.h"
#include "ops/pointwise/pointwise.h"
#include "ops/top_rows/top_rows.h"
#include "ops/unit_rows/unit_rows.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace lockstep {
namespace {

using ::testing::HasSubstr;

constexpr auto pixels_last = at::MemoryFormat::ChannelsLast;
constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(UnitRows, HaveTheLengthThatIsAskedForUnlessTheyAreShorterThanTheLeast) {
  at::Tensor x = at::randn({3, 5, 7});
  x[1][2].fill_(0);
  x[2][0].mul_(1e-8);
  const at::Tensor y = unit_rows(x, {.length = 3});
  const at::Tensor lengths = y.norm(2, {-1});
  EXPECT_NEAR(lengths[0][0].item<float>(), 3, 1e-5);
  EXPECT_EQ(lengths[1][2].item<float>(), 0);
  EXPECT_LT(lengths[2][0].item<float>(), 0.3);
  EXPECT_TRUE(y[0][0].allclose(x[0][0] * (3 / x[0][0].norm()), 1e-5, 1e-6));
  EXPECT_EQ(unit_rows(x.to(at::kBFloat16)).scalar_type(), at::kFloat);
  EXPECT_EQ(unit_rows(x, {.dtype = at::kBFloat16}).scalar_type(), at::kBFloat16);
  EXPECT_EQ(unit_rows(at::rand({0, 4})).sizes(), at::IntArrayRef({0, 4}));
  EXPECT_THAT(error_of([&] { unit_rows(x.to(at::kLong)); }), HasSubstr("floating rows"));
  EXPECT_THAT(error_of([&] { unit_rows(x, {.least = 0}); }), HasSubstr("above 0"));
}

TEST(UnitRows, HaveTheGradientsOfFiniteDifferences) {
  at::Tensor x = at::randn({3, 4}, at::kDouble);
  x[1].mul_(0.01);  // shorter than the least
  const UnitRowsOptions options{.least = 0.5, .length = 2, .dtype = at::kDouble};
  const auto value = [&](const at::Tensor& rows) {
    const at::Tensor y = unit_rows(rows, options);
    return (y * testing::gradient_for(y)).sum();
  };
  const at::Tensor leaf = x.clone().requires_grad_();
  const at::Tensor slope = torch::autograd::grad({value(leaf)}, {leaf})[0];
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const auto moved_by = [&](double step) {
      at::Tensor moved = x.clone();
      moved.view(-1)[i] += step;
      return value(moved).item<double>();
    };
    EXPECT_NEAR(slope.view(-1)[i].item<double>(), (moved_by(1e-6) - moved_by(-1e-6)) / 2e-6, 1e-6);
  }
}

// x, two weights and two biases; results and gradients of all five.
std::vector<at::Tensor> with_gradients(const std::vector<at::Tensor>& values, bool joined,
                                       bool only_second = false) {
  std::vector<at::Tensor> in;
  for (const at::Tensor& each : values) in.push_back(each.detach().requires_grad_());
  std::array<at::Tensor, 2> y;
  if (joined)
    y = pointwise_convolutions(in[0], {in[1], in[2]}, {in[3], in[4]});
  else
    y = {at::conv2d(in[0], in[1], in[3]), at::conv2d(in[0], in[2], in[4])};
  at::Tensor sum = (y[1] * testing::gradient_for(y[1])).sum();
  if (!only_second) sum = sum + (y[0] * testing::gradient_for(y[0])).sum();
  std::vector<at::Tensor> all{y[0].detach(), y[1].detach()};
  for (const at::Tensor& each :
       torch::autograd::grad({sum}, in, {}, {}, false, /*allow_unused=*/true))
    all.push_back(each);
  return all;
}

std::vector<at::Tensor> drawn_pair(std::int64_t first, std::int64_t second) {
  return {at::randn({2, 24, 3, 5}).contiguous(pixels_last), at::randn({first, 24, 1, 1}),
          at::randn({second, 24, 1, 1}), at::randn({first}), at::randn({second})};
}

TEST(TwoPointwiseConvolutions, AreEachOneAlone) {
  for (const auto& [first, second] : {std::pair{12, 3}, {60, 15}, {16, 16}, {1, 1}}) {
    const std::vector<at::Tensor> values = drawn_pair(first, second);
    const auto found = with_gradients(values, true), wanted = with_gradients(values, false);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_TRUE(found[i].allclose(wanted[i], 1e-4, 1e-4)) << first << ", " << second << ": " << i;
    EXPECT_EQ(found[0].stride(1), 1);  // channels-last, side by side
    EXPECT_EQ(found[0].stride(3), found[1].stride(3));
  }
  // Where only one is asked for, and where x does not lie channels-last.
  std::vector<at::Tensor> values = drawn_pair(12, 3);
  const auto found = with_gradients(values, true, true),
             wanted = with_gradients(values, false, true);
  for (const std::size_t i : {2U, 4U, 6U}) EXPECT_TRUE(found[i].allclose(wanted[i], 1e-4, 1e-4));
  values[0] = values[0].contiguous();
  EXPECT_TRUE(
      with_gradients(values, true)[3].allclose(with_gradients(values, false)[3], 1e-4, 1e-4));
}

TEST(TwoPointwiseConvolutions, AddTheirGradientsToTheBuffersOfParameters) {
  const std::vector<at::Tensor> values = drawn_pair(12, 3);
  const auto wanted = with_gradients(values, false);
  std::vector<at::Tensor> parameters, buffers;
  for (std::size_t i = 1; i < 5; ++i) {
    parameters.push_back(values[i].detach().requires_grad_());
    buffers.push_back(at::full(values[i].sizes(), 1.0F));
    set_gradient_buffer(parameters.back(), buffers.back());
  }
  const auto y = pointwise_convolutions(values[0], {parameters[0], parameters[1]},
                                        {parameters[2], parameters[3]});
  ((y[0] * testing::gradient_for(y[0])).sum() + (y[1] * testing::gradient_for(y[1])).sum())
      .backward();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(buffers[i].allclose(wanted[3 + i] + 1, 1e-4, 1e-4)) << i;
    EXPECT_FALSE(parameters[i].grad().defined());
    forget_gradient_buffer(parameters[i]);
  }
}

TEST(ChannelProducts, AreOfEachItemAndEachSet) {
  const at::Tensor x = at::rand({2, 8, 3, 4}), factors = at::rand({3, 8});
  const at::Tensor y = channel_products(x, factors);
  ASSERT_EQ(y.sizes(), at::IntArrayRef({6, 8, 3, 4}));
  for (std::int64_t item = 0; item < 2; ++item)
    for (std::int64_t set = 0; set < 3; ++set)
      EXPECT_TRUE(y[item * 3 + set].equal(x[item] * factors[set].view({8, 1, 1})));
  EXPECT_THAT(error_of([&] { channel_products(x, factors.narrow(1, 0, 7)); }),
              HasSubstr("factors [N, C]"));
}

TEST(ChosenBoxes, AreThoseOfTheirRows) {
  const at::Tensor anchors = testing::drawn_boxes(6, 90), deltas = at::randn({2, 3, 6, 4});
  const at::Tensor chosen = at::randint(0, 18, {2, 5}, at::kLong);
  const at::Tensor found = decode_chosen(deltas, anchors, chosen, 64, 80);
  for (std::int64_t q = 0; q < 2; ++q)
    for (std::int64_t k = 0; k < 5; ++k) {
      const auto row = chosen[q][k].item<std::int64_t>();
      const at::Tensor wanted =
          clip_boxes(decode_boxes(deltas[q][row / 6][row % 6], anchors[row % 6]), 64, 80);
      EXPECT_TRUE(found[q][k].equal(wanted)) << q << ", " << k;
    }
  EXPECT_THAT(error_of([&] { decode_chosen(deltas, anchors, chosen.to(at::kInt), 64, 80); }),
              HasSubstr("rows i64"));
}

TEST(ChosenBoxes, AreTakenByAnIndexThatMayBeNone) {
  const at::Tensor boxes = testing::drawn_boxes(6, 90).view({2, 3, 4});
  const auto [found, known] =
      boxes_at(boxes, at::tensor({2, -1, 0, -1, -1, 1}, at::kLong).view({2, 3}));
  EXPECT_TRUE(found[0][0].equal(boxes[0][2]));
  EXPECT_TRUE(found[0][2].equal(boxes[0][0]));
  EXPECT_TRUE(found[1][2].equal(boxes[1][1]));
  EXPECT_TRUE(known.flatten().equal(at::tensor({1, 0, 1, 0, 0, 1}).to(at::kBool)));
  EXPECT_EQ(found.abs().sum(-1).masked_select(known.logical_not()).sum().item<float>(), 0);
  EXPECT_THAT(error_of([&] {
                boxes_at(boxes, at::zeros({3, 1}, at::kLong));
              }),
              HasSubstr("index i64"));
}

TEST(ChosenBoxes, AreFlippedWhereTheirPictureIs) {
  const at::Tensor boxes = testing::drawn_boxes(6, 90).view({2, 3, 4});
  const at::Tensor found = flip_boxes(boxes, at::tensor({0.7F, 0.2F}), 100);
  EXPECT_TRUE(found[0].equal(boxes[0]));
  const at::Tensor corners = boxes[1];
  EXPECT_TRUE(found[1].equal(at::stack({100 - corners.select(1, 2), corners.select(1, 1),
                                        100 - corners.select(1, 0), corners.select(1, 3)},
                                       1)));
  EXPECT_THAT(error_of([&] { flip_boxes(boxes, at::rand({3}), 100); }),
              HasSubstr("numbers f32 [B]"));
}

TEST(TopRows, AreTheLargestOfTheirRow) {
  const at::Tensor x = at::randn({2, 3, 7}).to(at::kBFloat16);
  const auto [values, index] = top_rows(x, 5);
  EXPECT_EQ(values.scalar_type(), at::kFloat);
  EXPECT_TRUE(values.equal(std::get<0>(x.flatten(1).to(at::kFloat).sort(1, true)).narrow(1, 0, 5)));
  EXPECT_TRUE(x.flatten(1).to(at::kFloat).gather(1, index).equal(values));
  EXPECT_THAT(error_of([&] { top_rows(x, 22); }), HasSubstr("22 numbers or more"));
}

TEST(SortedNms, KeepsWhatSortingWouldHaveKept) {
  const at::Tensor boxes = testing::drawn_boxes(120, 40).view({2, 60, 4});
  at::Tensor scores = std::get<0>(at::rand({2, 60}).sort(1, /*descending=*/true));
  scores[1].narrow(0, 50, 10).fill_(-infinity);
  const KeptBoxes wanted = nms_padded(boxes, scores, 0.3, 40);
  const KeptBoxes found = nms_padded(boxes, scores, 0.3, 40, {}, /*is_sorted=*/true);
  EXPECT_TRUE(found.indices.equal(wanted.indices));
  EXPECT_TRUE(found.count.equal(wanted.count));
  EXPECT_GT(wanted.count[0].item<std::int64_t>(), 2);
  // What is no number stands in front, and takes no part.
  scores[0][0] = std::numeric_limits<float>::quiet_NaN();
  const KeptBoxes rest = nms_padded(boxes, scores, 0.3, 40, {}, /*is_sorted=*/true);
  EXPECT_TRUE(rest.indices.equal(nms_padded(boxes, scores, 0.3, 40).indices));
  EXPECT_NE(rest.indices[0][0].item<std::int64_t>(), 0);
}

TEST(MatchedRegions, MustFit) {
  const at::Tensor boxes = at::rand({2, 3, 4}), labels = at::zeros({2, 3}, at::kLong),
                   regions = at::rand({2, 5, 4}), known = at::full({2, 5}, true);
  const RegionMatches found = match_regions(regions, known, boxes, labels, {.classes = 2});
  EXPECT_EQ(found.rows.box.sizes(), at::IntArrayRef({2, 5, 4}));
  EXPECT_THAT(error_of([&] { match_regions(regions, known.to(at::kLong), boxes, labels, {}); }),
              HasSubstr("known bool"));
  EXPECT_THAT(error_of([&] {
                match_regions(regions, known, boxes.narrow(0, 0, 1), labels.narrow(0, 0, 1), {});
              }),
              HasSubstr("[Q, R, 4]"));
}

}  // namespace
}  // namespace lockstep
