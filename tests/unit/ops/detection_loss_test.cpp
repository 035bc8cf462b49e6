// Losses of a detector's rows: the plain formulas, finite differences, what costs nothing; and the
// kernels' arithmetic, as it runs on the CPU.
#include "ops/detection_loss/detection_loss.h"

#include "fakes/error_of.h"
#include "fakes/row_loss_cases.h"
#include "ops/detection_loss/detection_loss_inline.h"
#include "ops/shared/runs.h"

#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/smooth_l1_loss.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace lockstep {
namespace {

using testing::anchor_rows, testing::losses_with_gradients, testing::region_rows,
    testing::RowLossCase;
using ::testing::HasSubstr;

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

// A cost of one number, with its derivative by autograd.
using Costs = std::function<at::Tensor(const at::Tensor&)>;
void expect_cost(const std::vector<float>& values, const Costs& by_aten,
                 const std::function<CostAndSlope(float)>& by_hand) {
  const at::Tensor x = at::tensor(values).requires_grad_();
  const at::Tensor cost = by_aten(x);
  const at::Tensor slope = torch::autograd::grad({cost.sum()}, {x})[0];
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const CostAndSlope found = by_hand(values[i]);
    EXPECT_NEAR(found.cost, cost[at].item<float>(), 1e-6 * (1 + std::fabs(values[i]))) << values[i];
    EXPECT_NEAR(found.slope, slope[at].item<float>(), 1e-6) << values[i];
  }
}

TEST(CostsOfRows, AreAtensWithTheirSlopes) {
  const std::vector<float> values{-200, -30, -3.5, -1, -0.1F, 0, 1e-3F, 0.1F, 0.5F, 1, 7, 40, 300};
  for (const bool positive : {false, true})
    expect_cost(
        values,
        [&](const at::Tensor& x) {
          return at::binary_cross_entropy_with_logits(
              x, at::full_like(x.detach(), positive ? 1 : 0), {}, {}, at::Reduction::None);
        },
        [&](float x) { return binary_cross_entropy_of(x, positive); });
  for (const float beta : {0.1F, 1.0F, 3.0F})
    expect_cost(
        values,
        [&](const at::Tensor& x) {
          return at::smooth_l1_loss(x, at::zeros_like(x), at::Reduction::None, beta);
        },
        [&](float x) { return smooth_l1_of(x, beta); });
}

TEST(CostsOfRows, StayNoNumberWhereTheLogitOrTheDifferenceIsNone) {
  for (const bool positive : {false, true}) {
    const CostAndSlope found = binary_cross_entropy_of(nan_value, positive);
    EXPECT_TRUE(std::isnan(found.cost) && std::isnan(found.slope));
  }
  const CostAndSlope found = smooth_l1_of(nan_value, 1);
  EXPECT_TRUE(std::isnan(found.cost) && std::isnan(found.slope));
  for (const unsigned place : {0U, 1U, 2U}) {
    const RowEntropy entropy =
        row_entropy(3, [&](unsigned i) { return i == place ? nan_value : 1; });
    EXPECT_TRUE(std::isnan(entropy.largest + entropy.log_of_rest));
  }
}

TEST(CostsOfRows, HaveTheEntropyOfSoftmax) {
  const std::vector<float> row{-300, 4, 100, 99.5F, -std::numeric_limits<float>::infinity()};
  const RowEntropy found = row_entropy(5, [&](unsigned i) { return row[i]; });
  const at::Tensor wanted = at::log_softmax(at::tensor(row), 0);
  for (const unsigned i : {0U, 1U, 2U, 3U})
    EXPECT_NEAR(row[i] - found.largest - found.log_of_rest,
                wanted[static_cast<std::int64_t>(i)].item<float>(), 1e-4);
}

// As the kernels compute them.
at::Tensor by_hand(const at::Tensor& a, const at::Tensor& b,
                   const std::function<Corners(const Corners&, const Corners&)>& function) {
  at::Tensor result = at::empty_like(a);
  for (std::int64_t i = 0; i < a.size(0); ++i) {
    Corners of_a, of_b;
    std::memcpy(&of_a, a[i].const_data_ptr<float>(), sizeof of_a);
    std::memcpy(&of_b, b[i].const_data_ptr<float>(), sizeof of_b);
    const Corners found = function(of_a, of_b);
    std::memcpy(result[i].mutable_data_ptr<float>(), &found, sizeof found);
  }
  return result;
}

TEST(CodingOfBoxes, IsTheSameInKernels) {
  const at::Tensor boxes = testing::solid_f32_boxes(50), anchors = testing::solid_f32_boxes(50);
  const BoxCoding coding{.weights = {10, 8, 5, 4}, .most_log_size = 0.4};
  const InlineCoding inline_coding{10, 8, 5, 4, 0.4F};
  const at::Tensor deltas = encode_boxes(boxes, anchors, coding);
  EXPECT_TRUE(by_hand(boxes, anchors, [&](const Corners& a, const Corners& b) {
                return encoded(a, b, inline_coding);
              }).allclose(deltas, 1e-5, 1e-6));
  const at::Tensor back = clip_boxes(decode_boxes(deltas, anchors, coding), 30, 45);
  EXPECT_TRUE(by_hand(deltas, anchors, [&](const Corners& a, const Corners& b) {
                return clipped(decoded(a, b, inline_coding), 30, 45);
              }).allclose(back, 1e-5, 1e-5));
  const Corners none = clipped({nan_value, -1, 50, 20}, 30, 45);
  EXPECT_TRUE(std::isnan(none.x1));
  EXPECT_EQ(none.y1, 0);
  EXPECT_EQ(none.x2, 45);
}

// The formulas written out.
TEST(DetectionLoss, IsTheSumOfItsRowsByTheirWeights) {
  for (const RowLossCase& test : testing::row_loss_cases()) {
    const std::int64_t rows = test.targets.positive.numel(),
                       pictures = test.targets.positive.size(0);
    const at::Tensor positive = test.targets.positive.flatten(),
                     weight = test.targets.weight.flatten(), box = test.targets.box.view({-1, 4}),
                     from = test.from.reshape({-1, 4}), deltas = test.deltas.view({-1, 4});
    const at::Tensor wanted = encode_boxes(
        box, from.index_select(0, at::arange(rows).remainder(from.size(0))), test.options.coding);
    const at::Tensor size = (deltas - wanted).abs();
    const at::Tensor smooth =
        at::where(size.lt(test.options.beta), size.square() / (2 * test.options.beta),
                  size - test.options.beta / 2)
            .sum(1);
    at::Tensor entropy;
    if (test.label.defined()) {
      const at::Tensor label = test.label.flatten();
      entropy = test.logits.softmax(1)
                    .log()
                    .neg()
                    .gather(1, label.clamp_min(0).unsqueeze(1))
                    .squeeze(1)
                    .mul(label.ge(0));
    } else {
      const at::Tensor p = test.logits.flatten().to(at::kDouble).sigmoid();
      entropy = at::where(positive, p, 1 - p).log().neg();
    }
    at::Tensor all = weight;
    if (test.picture_weight.defined())
      all = weight * test.picture_weight.repeat_interleave(rows / pictures);
    const double classes = (entropy * all).sum().item<double>() * test.options.class_factor;
    const double boxes = (smooth * all * positive).sum().item<double>() * test.options.box_factor;
    const auto found = losses_with_gradients(test);
    EXPECT_NEAR(found[0].item<double>(), classes, 1e-4 * (1 + classes)) << test.name;
    EXPECT_NEAR(found[1].item<double>(), boxes, 1e-4 * (1 + boxes)) << test.name;
  }
}

TEST(DetectionLoss, HasTheGradientsOfFiniteDifferences) {
  for (const RowLossCase& drawn : {anchor_rows(2, 2, 3, 2, 0.5), region_rows(2, 5, 3, 0.5)}) {
    const RowLossCase test = testing::moved(drawn, at::kCPU, at::kDouble, at::kDouble);
    const auto found = losses_with_gradients(test);
    EXPECT_EQ(found[0].scalar_type(), at::kDouble);
    const auto value = [&](const at::Tensor& logits, const at::Tensor& deltas) {
      const DetectionLoss loss = testing::loss_of(test, logits, deltas);
      return loss.classes.item<double>() * 2 + loss.boxes.item<double>() * 3;
    };
    for (const bool of_logits : {true, false}) {
      const at::Tensor& input = of_logits ? test.logits : test.deltas;
      for (std::int64_t i = 0; i < input.numel(); ++i) {
        const auto moved_by = [&](double step) {
          at::Tensor moved = input.clone();
          moved.view(-1)[i] += step;
          return of_logits ? value(moved, test.deltas) : value(test.logits, moved);
        };
        const double slope = (moved_by(1e-6) - moved_by(-1e-6)) / 2e-6;
        EXPECT_NEAR(found[of_logits ? 2 : 3].reshape(-1)[i].item<double>(), slope, 1e-5)
            << drawn.name << (of_logits ? ", logit " : ", delta ") << i;
      }
    }
  }
}

TEST(DetectionLoss, OfRowsThatDoNotCountIs0WhateverTheyHold) {
  RowLossCase test = region_rows(2, 4, 3, 0);
  test.targets.positive[0][1] = true;
  test.label.fill_(2);
  test.label[1][3] = -1;
  test.targets.weight.fill_(1);
  const auto before = losses_with_gradients(test);
  for (const std::int64_t row : {0, 2, 3, 4, 5, 6, 7}) test.deltas[row].fill_(nan_value);
  test.targets.box[1].fill_(0);  // no box at all
  const auto after = losses_with_gradients(test);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(after[i].equal(before[i])) << i;
  EXPECT_EQ(after[2][7].abs().sum().item<float>(), 0);
  EXPECT_GT(after[2][6].abs().sum().item<float>(), 0);
}

TEST(DetectionLoss, OfNoRowsIs0) {
  const RowLossCase test = region_rows(2, 0, 3, 0);
  const auto found = losses_with_gradients(test);
  EXPECT_EQ(found[0].item<float>(), 0);
  EXPECT_EQ(found[1].item<float>(), 0);
}

TEST(DetectionLoss, SaysWhatDoesNotFit) {
  const auto error = [](const std::function<void(RowLossCase&)>& spoil, RowLossCase test) {
    spoil(test);
    return error_of([&] { testing::loss_of(test, test.logits, test.deltas); });
  };
  const RowLossCase anchors = anchor_rows(2, 2, 3, 2, 0.5), regions = region_rows(2, 3, 4, 0.5);
  EXPECT_THAT(error([](auto& t) { t.logits = t.logits.flatten().narrow(0, 0, 5); }, anchors),
              HasSubstr("24 rows"));
  EXPECT_THAT(error([](auto& t) { t.deltas = t.deltas.flatten().narrow(0, 0, 5); }, anchors),
              HasSubstr("four deltas"));
  EXPECT_THAT(error([](auto& t) { t.from = t.from.narrow(0, 0, 5); }, anchors),
              HasSubstr("relative to"));
  EXPECT_THAT(error([](auto& t) { t.targets.weight = t.targets.positive; }, anchors),
              HasSubstr("weight f32"));
  EXPECT_THAT(error([](auto& t) { t.picture_weight = at::rand({3}); }, anchors),
              HasSubstr("2 pictures"));
  EXPECT_THAT(error([](auto& t) { t.options.beta = 0; }, anchors), HasSubstr("beta above 0"));
  EXPECT_THAT(error([](auto& t) { t.label = t.label.to(at::kInt); }, regions),
              HasSubstr("label i64"));
}

// Element by element, as a kernel finds them.
void expect_runs(const at::Tensor& tensor, std::int64_t group, bool in_place) {
  const InRuns found = in_runs(tensor, group);
  EXPECT_EQ(found.tensor.is_same(tensor), in_place);
  EXPECT_EQ(found.runs.length % group, 0U);
  const auto* const values = found.tensor.const_data_ptr<float>();
  const at::Tensor wanted = tensor.contiguous();
  for (std::int64_t i = 0; i < wanted.numel(); ++i) {
    const auto element = static_cast<std::uint32_t>(i);
    EXPECT_EQ(values[element / found.runs.length * found.runs.step + element % found.runs.length],
              wanted.view(-1)[i].item<float>());
  }
}

TEST(RunsOfTensors, AreReadInPlaceWhereTheyAreRegular) {
  expect_runs(at::rand({3, 4, 5}), 1, true);
  // Channels 4 to 11 of a channels-last map of 20.
  const at::Tensor channels =
      at::rand({2, 20, 3, 5}).contiguous(at::MemoryFormat::ChannelsLast).narrow(1, 4, 8);
  expect_runs(channels.permute({0, 2, 3, 1}), 4, true);
  expect_runs(channels.permute({0, 2, 3, 1}).reshape({2, 15, 2, 4}), 4, true);
  expect_runs(channels.permute({0, 2, 3, 1}), 16, false);
  expect_runs(channels, 1, false);
  expect_runs(at::rand({6, 4}).t(), 1, false);
  expect_runs(at::rand({6, 4}).select(1, 2), 1, true);
  expect_runs(at::rand({3, 1}).expand({3, 4}), 1, false);
  expect_runs(at::rand({1, 1, 1}), 1, true);
}

}  // namespace
}  // namespace lockstep
