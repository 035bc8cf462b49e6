// A detector's heads on the GPU: losses, matched regions, chosen boxes, rows of one length, two
// convolutions as one product: what the CPU gives, in every type, always alike, and in graphs.
#include "fakes/detection_cases.h"
#include "fakes/row_loss_cases.h"
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"
#include "ops/boxes/boxes.h"
#include "ops/channel_products/channel_products.h"
#include "ops/chosen_boxes/chosen_boxes.h"
#include "ops/gradient_buffer/gradient_registry.h"
#include "ops/match_boxes/match_boxes.h"
#include "ops/nms/nms.h"
#include "ops/pointwise/pointwise.h"
#include "ops/top_rows/top_rows.h"
#include "ops/unit_rows/unit_rows.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isclose.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>

namespace lockstep {
namespace {

using HeadsOnGpu = GpuTest;
using testing::expect_near, testing::losses_with_gradients, testing::RowLossCase,
    testing::tolerance, testing::types;

constexpr auto by_pixel = at::MemoryFormat::ChannelsLast;

// Of the same rounded numbers, in f32.
void expect_the_cpus(const RowLossCase& here, const std::string& what) {
  const auto found = losses_with_gradients(here);
  const auto wanted = losses_with_gradients(testing::moved(here, at::kCPU, at::kFloat, at::kFloat));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found[i].scalar_type(), at::kFloat);
    expect_near(found[i].cpu(), wanted[i], 1e-5, what + (i == 0 ? ", classes" : ", boxes"));
  }
  EXPECT_EQ(found[2].scalar_type(), here.logits.scalar_type());
  EXPECT_EQ(found[3].scalar_type(), here.deltas.scalar_type());
  expect_near(found[2].cpu(), wanted[2], 4 * tolerance(here.logits.scalar_type()),
              what + ", of logits");
  expect_near(found[3].cpu(), wanted[3], 4 * tolerance(here.deltas.scalar_type()),
              what + ", of deltas");
}

TEST_F(HeadsOnGpu, LossesAreTheCpusInEveryType) {
  at::manual_seed(3);
  for (const RowLossCase& test : testing::row_loss_cases())
    for (const auto logits : types)
      for (const auto deltas : types)
        expect_the_cpus(testing::moved(test, gpu().device(), logits, deltas),
                        c10::str(test.name, ", ", logits, ", ", deltas));
}

// Channels of one wide channels-last map, of which the deltas come first.
TEST_F(HeadsOnGpu, LossesReadChannelsInPlace) {
  at::manual_seed(4);
  const std::int64_t per_cell = 3;
  RowLossCase test = testing::moved(testing::anchor_rows(2, 2, 35, per_cell, 0.2), gpu().device(),
                                    at::kBFloat16, at::kBFloat16);
  const at::Tensor wide =
      at::full({2 * 2 * 35, 16}, std::numeric_limits<double>::quiet_NaN(), test.logits.options());
  wide.narrow(1, 0, 12).copy_(test.deltas.view({-1, 12}));
  wide.narrow(1, 12, 3).copy_(test.logits.view({-1, 3}));
  const auto wanted = losses_with_gradients(test);
  test.deltas = wide.narrow(1, 0, 12).view({2, 2, 35, per_cell, 4});
  test.logits = wide.narrow(1, 12, 3).view({2, 2, 35, per_cell});
  const auto found = losses_with_gradients(test);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(found[i].equal(wanted[i])) << i;
}

TEST_F(HeadsOnGpu, LossesRepeatToTheBitAndTakeNoNumbersWhereNothingCounts) {
  at::manual_seed(5);
  RowLossCase test = testing::moved(testing::anchor_rows(5, 5, 100, 15, 0.01), gpu().device(),
                                    at::kBFloat16, at::kBFloat16);
  const auto first = losses_with_gradients(test);
  const at::Tensor negative = test.targets.positive.view({5, 5, 100, 15, 1}).logical_not();
  test.deltas = test.deltas.masked_fill(negative, std::numeric_limits<double>::quiet_NaN());
  test.targets.box = test.targets.box.masked_fill(negative.view({5, 5, 1500, 1}), 0);
  const auto again = losses_with_gradients(test);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(again[i].equal(first[i])) << i;
  // A logit that is no number shows in the sum and in its gradient.
  test.logits.view(-1)[7] = std::numeric_limits<double>::quiet_NaN();
  const auto spoiled = losses_with_gradients(test);
  EXPECT_TRUE(spoiled[0].isnan().item<bool>());
  EXPECT_FALSE(spoiled[1].isnan().item<bool>());
  EXPECT_EQ(spoiled[2].isnan().sum().item<std::int64_t>(), 1);
}

TEST_F(HeadsOnGpu, OneLossAloneHasItsGradientAlone) {
  at::manual_seed(6);
  const RowLossCase test = testing::moved(testing::region_rows(2, 40, 6, 0.5), gpu().device(),
                                          at::kFloat, at::kBFloat16);
  const auto all = losses_with_gradients(test);
  const at::Tensor logits = test.logits.detach().requires_grad_(),
                   deltas = test.deltas.detach().requires_grad_();
  const DetectionLoss loss = testing::loss_of(test, logits, deltas);
  const auto of_boxes = torch::autograd::grad({loss.boxes.mul(3)}, {logits, deltas}, {},
                                              /*retain_graph=*/true, false, /*allow_unused=*/true);
  EXPECT_FALSE(of_boxes[0].defined());
  EXPECT_TRUE(of_boxes[1].equal(all[3]));
  const auto of_classes = torch::autograd::grad({loss.classes.mul(2)}, {logits, deltas}, {}, false,
                                                false, /*allow_unused=*/true);
  EXPECT_TRUE(of_classes[0].equal(all[2]));
  EXPECT_FALSE(of_classes[1].defined());
}

TEST_F(HeadsOnGpu, LossesCanBeRecordedInAGraph) {
  const RowLossCase test =
      testing::moved(testing::anchor_rows(2, 3, 100, 5, 0.1), gpu().device(), at::kHalf, at::kHalf);
  losses_with_gradients(test);  // makes what is made once
  std::array<at::Tensor, 4> recorded;
  const auto graph = gpu().capture([&] { recorded = losses_with_gradients(test); });
  ASSERT_NE(graph, nullptr);
  {
    const at::AutoGradMode in_place(false);
    test.logits.mul_(-0.5);
    test.deltas.add_(0.25);
  }
  graph->replay();
  const auto expected = losses_with_gradients(test);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(recorded[i].equal(expected[i])) << i;
}

TEST_F(HeadsOnGpu, MatchedRegionsAreTheCpus) {
  at::manual_seed(7);
  const auto drawn = [](std::int64_t pictures, std::int64_t count) {
    return testing::drawn_boxes(pictures * count, 100).view({pictures, count, 4});
  };
  const at::Device device = gpu().device();
  struct Case {
    std::int64_t pictures, count, most;
    std::int64_t lowest;  // label
  };
  for (const Case& test : {Case{5, 80, 16, -2}, {1, 1, 1, 0}, {2, 700, 9, -2}, {3, 256, 300, -1}}) {
    at::Tensor regions = drawn(test.pictures, test.count);
    const at::Tensor boxes = drawn(test.pictures, test.most);
    // True boxes are among the regions, so that some are positive.
    const std::int64_t own = std::min(test.count, test.most) / 2;
    regions.narrow(1, 0, own).copy_(boxes.narrow(1, 0, own).add(0.5));
    const at::Tensor known = at::rand({test.pictures, test.count}).lt(0.8);
    for (const bool padding : {false, true}) {
      const at::Tensor labels =
          padding ? at::full({test.pictures, test.most}, no_box, at::kLong)
                  : at::randint(test.lowest, 4, {test.pictures, test.most}, at::kLong);
      const RegionMatching how{.classes = 4, .drawn = 64};
      const RegionMatches wanted = match_regions(regions, known, boxes, labels, how);
      const RegionMatches found = match_regions(regions.to(device), known.to(device),
                                                boxes.to(device), labels.to(device), how);
      EXPECT_TRUE(found.rows.positive.cpu().equal(wanted.rows.positive));
      EXPECT_TRUE(found.rows.weight.cpu().allclose(wanted.rows.weight, 1e-6, 0));
      EXPECT_TRUE(found.label.cpu().equal(wanted.label));
      const at::Tensor counts = wanted.rows.positive.unsqueeze(-1);
      EXPECT_TRUE(found.rows.box.cpu().mul(counts).equal(wanted.rows.box.mul(counts)));
    }
  }
}

TEST_F(HeadsOnGpu, ChosenBoxesAreTheCpus) {
  at::manual_seed(8);
  const at::Device device = gpu().device();
  for (const auto type : types)
    for (const std::int64_t classes : {1, 3}) {
      const at::Tensor anchors = testing::drawn_boxes(35 * 3, 90);
      const at::Tensor deltas = at::randn({2, classes, 35, 3, 4}).mul(2).to(type);
      const at::Tensor chosen = at::randint(0, classes * 35 * 3, {2, 301}, at::kLong);
      const BoxCoding coding{.weights = {10, 8, 2, 1}};
      const at::Tensor wanted = decode_chosen(deltas, anchors, chosen, 64, 80, coding);
      const at::Tensor dense = deltas.to(device);
      expect_near(decode_chosen(dense, anchors.to(device), chosen.to(device), 64, 80, coding).cpu(),
                  wanted, 1e-6, c10::str(type));
      // The same as channels of a wider map.
      const at::Tensor wide = at::zeros({2 * classes * 35, 16}, dense.options());
      wide.narrow(1, 0, 12).copy_(dense.view({-1, 12}));
      expect_near(decode_chosen(wide.narrow(1, 0, 12).view(dense.sizes()), anchors.to(device),
                                chosen.to(device), 64, 80, coding)
                      .cpu(),
                  wanted, 1e-6, c10::str(type, ", channels"));
    }
  const at::Tensor boxes = testing::drawn_boxes(3 * 50, 90).view({3, 50, 4});
  const at::Tensor index = at::randint(-1, 50, {3, 171}, at::kLong);
  const IndexedBoxes wanted = boxes_at(boxes, index),
                     found = boxes_at(boxes.to(device), index.to(device));
  EXPECT_TRUE(found.boxes.cpu().equal(wanted.boxes));
  EXPECT_TRUE(found.known.cpu().equal(wanted.known));
}

TEST_F(HeadsOnGpu, FlippedBoxesAreTheCpus) {
  const at::Device device = gpu().device();
  const at::Tensor boxes = testing::drawn_boxes(5 * 7, 90).view({5, 7, 4}),
                   numbers = at::rand({5, 3});
  EXPECT_TRUE(flip_boxes(boxes.to(device), numbers.to(device).select(1, 0), 100)
                  .cpu()
                  .equal(flip_boxes(boxes, numbers.select(1, 0), 100)));
}

TEST_F(HeadsOnGpu, TopRowsAreThoseOfAStableSort) {
  at::manual_seed(9);
  const at::Device device = gpu().device();
  struct Case {
    std::int64_t rows, length, count;
  };
  for (const Case& test : {Case{5, 30000, 1000},
                           {1, 1, 1},
                           {3, 1024, 1024},
                           {2, 32768, 1024},
                           {4, 1025, 1},
                           {2, 700, 650},
                           {2, 40000, 17},
                           {2, 3000, 1500}})
    for (const auto type : types)
      for (const double spread : {1e-3, 10.0}) {  // many equal numbers, and few
        at::Tensor x = at::randn({test.rows, test.length}).mul(spread).sub(2).to(type);
        if (test.length > 20) {
          x[0].narrow(0, 3, 5).fill_(std::numeric_limits<float>::infinity());
          x[0].narrow(0, 11, 5).fill_(-std::numeric_limits<float>::infinity());
          x[0][17].fill_(std::numeric_limits<float>::quiet_NaN());
        }
        const auto [sorted, order] =
            x.to(at::kFloat).sort(/*stable=*/true, /*dim=*/1, /*descending=*/true);
        const auto [values, index] = top_rows(x.to(device), test.count);
        const std::string what =
            c10::str(type, " ", test.rows, " x ", test.length, ": ", test.count);
        EXPECT_TRUE(at::isclose(values.cpu(), sorted.narrow(1, 0, test.count), 0, 0, true)
                        .all()
                        .item<bool>())
            << what;
        const bool by_kernel = test.length <= top_rows_most_length && test.count <= 1024;
        if (by_kernel) {
          EXPECT_TRUE(index.cpu().equal(order.narrow(1, 0, test.count))) << what;
        }
      }
  // Some channels of a wider map.
  const at::Tensor wide = at::randn({2 * 35, 16}).to(device);
  const at::Tensor x = wide.narrow(1, 2, 3).view({2, 35, 3});
  EXPECT_TRUE(top_rows(x, 50).index.equal(top_rows(x.contiguous(), 50).index));
}

TEST_F(HeadsOnGpu, SortedNmsKeepsWhatTheCpuKeeps) {
  const at::Device device = gpu().device();
  const at::Tensor boxes = testing::drawn_boxes(3 * 1000, 300).view({3, 1000, 4});
  at::Tensor scores = std::get<0>(at::rand({3, 1000}).sort(1, /*descending=*/true));
  scores[1].narrow(0, 700, 300).fill_(-std::numeric_limits<float>::infinity());
  scores[2].narrow(0, 0, 3).fill_(std::numeric_limits<float>::quiet_NaN());
  for (const std::int64_t at_most : {1, 64, 1200}) {
    const KeptBoxes wanted = nms_padded(boxes, scores, 0.3, at_most, {}, /*is_sorted=*/true);
    const KeptBoxes found =
        nms_padded(boxes.to(device), scores.to(device), 0.3, at_most, {}, /*is_sorted=*/true);
    EXPECT_TRUE(found.indices.cpu().equal(wanted.indices)) << at_most;
    EXPECT_TRUE(found.count.cpu().equal(wanted.count)) << at_most;
  }
}

TEST_F(HeadsOnGpu, RowsOfOneLengthAreTheCpus) {
  at::manual_seed(9);
  for (const auto type : types)
    for (const auto result : types)
      for (const std::int64_t width : {1, 7, 128, 257, 512})
        for (const std::int64_t rows : {1, 33}) {
          at::Tensor x = at::randn({rows, width}).to(type);
          if (rows > 1) x[1].fill_(0);
          if (rows > 2) x[2].mul_(1e-3);  // shorter than the least
          const UnitRowsOptions options{.least = 0.1, .length = 3, .dtype = result};
          const auto both = [&](const at::Tensor& given) {
            const at::Tensor leaf = given.detach().requires_grad_();
            const at::Tensor y = unit_rows(leaf, options);
            return std::array<at::Tensor, 2>{
                y.detach(), torch::autograd::grad({y}, {leaf}, {testing::gradient_for(y)})[0]};
          };
          const auto found = both(x.to(gpu().device()));
          const auto wanted = both(x.to(at::kFloat));
          const std::string what = c10::str(type, " to ", result, ", ", rows, " x ", width);
          EXPECT_EQ(found[0].scalar_type(), result);
          EXPECT_EQ(found[1].scalar_type(), type);
          expect_near(found[0].cpu(), wanted[0], 2 * tolerance(result), what);
          // Of a single column all but rounding cancels.
          if (width > 1 || rows > 2)
            expect_near(found[1].cpu(), wanted[1], 4 * tolerance(type) + 4 * tolerance(result),
                        what + ", gradient");
        }
}

TEST_F(HeadsOnGpu, TwoPointwiseConvolutionsAreEachOneAlone) {
  at::manual_seed(10);
  for (const auto type : types)
    for (const auto& [first, second] : {std::pair{12, 3}, {60, 15}, {16, 16}, {1, 1}}) {
      const auto options = at::TensorOptions().device(gpu().device()).dtype(type);
      std::vector<at::Tensor> in{at::randn({3, 64, 5, 7}, options).contiguous(by_pixel),
                                 at::randn({first, 64, 1, 1}, options),
                                 at::randn({second, 64, 1, 1}, options),
                                 at::randn({first}, options), at::randn({second}, options)};
      std::vector<at::Tensor> exact;
      for (at::Tensor& each : in) {
        exact.push_back(each.to(at::kDouble).requires_grad_());
        each.requires_grad_();
      }
      const auto found = pointwise_convolutions(in[0], {in[1], in[2]}, {in[3], in[4]});
      const std::array<at::Tensor, 2> wanted{at::conv2d(exact[0], exact[1], exact[3]),
                                             at::conv2d(exact[0], exact[2], exact[4])};
      const std::string what = c10::str(type, ", ", first, " and ", second);
      std::vector<at::Tensor> ups, exact_ups;
      for (std::size_t i = 0; i < 2; ++i) {
        expect_near(found[i], wanted[i], 2 * tolerance(type), what);
        EXPECT_EQ(found[i].stride(1), 1);
        ups.push_back(testing::gradient_for(found[i].detach()));
        exact_ups.push_back(ups.back().to(at::kDouble));
      }
      const auto gradients = torch::autograd::grad({found[0], found[1]}, in, ups);
      const auto exact_gradients = torch::autograd::grad({wanted[0], wanted[1]}, exact, exact_ups);
      for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(gradients[i].scalar_type(), type);
        expect_near(gradients[i], exact_gradients[i], 4 * tolerance(type),
                    c10::str(what, ", gradient ", i));
      }
    }
}

TEST_F(HeadsOnGpu, ChannelProductsAreTheReferencesAlwaysAlike) {
  at::manual_seed(11);
  struct Case {
    std::int64_t items, sets, channels, height, width;
  };
  for (const auto type : types)
    for (const Case& c : {Case{5, 5, 256, 20, 20},
                          {1, 1, 8, 1, 1},
                          {2, 3, 264, 3, 7},
                          {3, 2, 24, 13, 5},
                          {2, 2, 520, 9, 9}}) {
      const auto options = at::TensorOptions().device(gpu().device()).dtype(type);
      const at::Tensor x = at::randn({c.items, c.channels, c.height, c.width}, options)
                               .contiguous(by_pixel),
                       factors = at::randn({c.sets, c.channels}, options);
      const auto both = [&](const at::Tensor& maps, const at::Tensor& of_channels, bool own) {
        const at::Tensor a = maps.detach().requires_grad_(),
                         b = of_channels.detach().requires_grad_();
        const at::Tensor y = own ? channel_products(a, b) : channel_products_reference(a, b);
        const auto slopes = torch::autograd::grad({y}, {a, b}, {testing::gradient_for(y)});
        return std::array<at::Tensor, 3>{y.detach(), slopes[0], slopes[1]};
      };
      const auto found = both(x, factors, true), again = both(x, factors, true),
                 wanted = both(x.to(at::kDouble), factors.to(at::kDouble), false);
      const std::string what = c10::str(type, ", ", c.channels);
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(found[i].scalar_type(), type);
        EXPECT_TRUE(found[i].equal(again[i])) << what << ": " << i;
        expect_near(found[i], wanted[i], 4 * tolerance(type), c10::str(what, ": ", i));
      }
      EXPECT_TRUE(found[0].is_contiguous(by_pixel));
      EXPECT_TRUE(found[1].is_contiguous(by_pixel));
    }
}

}  // namespace
}  // namespace lockstep
