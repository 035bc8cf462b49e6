// RoIAlign and non-maximum suppression on the GPU: what the CPU gives, in every type and layout;
// the same bits each time; and graphs.
#include "fakes/detection_cases.h"
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"
#include "ops/boxes/boxes.h"
#include "ops/match_boxes/match_boxes.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

namespace lockstep {
namespace {

using DetectionOnGpu = GpuTest;
using testing::aligned_with_gradient, testing::drawn_boxes, testing::NmsCase, testing::RoiCase,
    testing::tolerance, testing::types;

std::vector<RoiCase> all_roi_cases() {
  std::vector<RoiCase> cases = testing::recorded_roi_cases();
  for (const RoiCase& test : testing::drawn_roi_cases()) cases.push_back(test);
  return cases;
}

// Of the same rounded features, in f32 at least.
void expect_the_cpus_regions(const RoiCase& test, const at::Tensor& features) {
  const auto found = aligned_with_gradient(test, features);
  const auto exact = features.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto wanted =
      aligned_with_gradient(test, features.to(at::kCPU, exact), features.scalar_type());
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found[i].scalar_type(), features.scalar_type());
    EXPECT_EQ(found[i].suggest_memory_format(), wanted[i].suggest_memory_format());
    if (found[i].numel() == 0) continue;
    // Sums of tens of thousands of bins differ by their order.
    const double factor = test.options.height * test.options.width > 1000 ? 16 : 4;
    testing::expect_near(found[i].cpu(), wanted[i], factor * tolerance(features.scalar_type()),
                         test.name + (i == 0 ? ", result" : ", gradient"));
  }
}

TEST_F(DetectionOnGpu, RoiAlignIsTheCpusInEveryTypeAndLayout) {
  for (const RoiCase& test : all_roi_cases())
    for (const auto type : types)
      for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast})
        expect_the_cpus_regions(test, test.features.to(gpu().device(), type).contiguous(format));
}

TEST_F(DetectionOnGpu, RoiAlignTakesF64AndTensorsThatLieAnyhow) {
  const RoiCase test = testing::recorded_roi_cases()[0];
  expect_the_cpus_regions(test, test.features.to(gpu().device(), at::kDouble));
  const at::Tensor wide = at::randn({3, 4, 9, 13}).to(gpu().device());
  expect_the_cpus_regions(test, wide.narrow(3, 1, 11).narrow(1, 1, 3));
}

TEST_F(DetectionOnGpu, RoiAlignRepeatsToTheBit) {
  for (const RoiCase& test : all_roi_cases()) {
    const at::Tensor features =
        test.features.to(gpu().device(), at::kHalf).contiguous(at::MemoryFormat::ChannelsLast);
    const auto first = aligned_with_gradient(test, features);
    const Deterministic deterministic;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const auto again = aligned_with_gradient(test, features);
      for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(again[i].equal(first[i])) << test.name;
    }
  }
}

TEST_F(DetectionOnGpu, RoiAlignTakesBoxesThatAreNone) {
  const at::Tensor boxes = testing::odd_boxes();
  for (const std::int64_t sampling : {0, 2, 64})
    for (const bool aligned : {false, true}) {
      const RoiCase test{.name = "odd",
                         .features = at::randn({1, 8, 4, 6}),
                         .boxes = boxes,
                         .pictures = at::zeros({boxes.size(0)}, at::kLong),
                         .options = {.height = 2,
                                     .width = 3,
                                     .spatial_scale = 0.25,
                                     .sampling_ratio = sampling,
                                     .aligned = aligned}};
      const auto found = aligned_with_gradient(test, test.features.to(gpu().device()));
      EXPECT_TRUE(found[0].isfinite().all().item<bool>());
      EXPECT_TRUE(found[1].isfinite().all().item<bool>());
      EXPECT_TRUE(found[0].narrow(0, 0, 5).eq(0).all().item<bool>());  // not finite
    }
}

TEST_F(DetectionOnGpu, RoiAlignCanBeRecordedInAGraph) {
  const auto format = at::MemoryFormat::ChannelsLast;
  const RoiCase test = testing::drawn_roi_cases()[0];
  const at::Tensor features = test.features.to(gpu().device(), at::kHalf).contiguous(format);
  RoiCase here = test;
  here.boxes = test.boxes.to(gpu().device());
  here.pictures = test.pictures.to(gpu().device());
  aligned_with_gradient(here, features);  // makes what is made once
  std::vector<at::Tensor> recorded;
  const auto graph = gpu().capture([&] { recorded = aligned_with_gradient(here, features); });
  ASSERT_NE(graph, nullptr);
  {
    const at::AutoGradMode in_place(false);
    features.mul_(0.5).add_(0.25);
    here.boxes.add_(3);
    here.pictures.add_(1).remainder_(3);
  }
  graph->replay();
  const auto expected = aligned_with_gradient(here, features);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(recorded[i].equal(expected[i])) << i;
}

// Kept on the CPU and on the GPU, with their counts.
void expect_the_same_kept(const at::Tensor& boxes, const at::Tensor& scores, double threshold,
                          std::int64_t at_most, const at::Tensor& group, const at::Device& device,
                          const std::string& name) {
  const KeptBoxes wanted = nms_padded(boxes, scores, threshold, at_most, group);
  const KeptBoxes found = nms_padded(boxes.to(device), scores.to(device), threshold, at_most,
                                     group.defined() ? group.to(device) : group);
  EXPECT_TRUE(found.indices.cpu().equal(wanted.indices)) << name << ", " << at_most;
  EXPECT_TRUE(found.count.cpu().equal(wanted.count)) << name << ", " << at_most;
}

TEST_F(DetectionOnGpu, NmsKeepsWhatTheCpuKeeps) {
  const at::Device device = gpu().device();
  for (const NmsCase& test : testing::recorded_nms_cases()) {
    for (const std::int64_t at_most : {std::int64_t{1}, std::int64_t{70}, test.boxes.size(0) + 3})
      expect_the_same_kept(test.boxes, test.scores, test.threshold, at_most, test.group, device,
                           test.name);
    EXPECT_TRUE(nms(test.boxes.to(device), test.scores.to(device), test.threshold,
                    test.group.defined() ? test.group.to(device) : test.group)
                    .cpu()
                    .equal(test.kept))
        << test.name;
  }
  // More than 64 words of bits; sets; scores that tie, and boxes without one.
  const at::Tensor boxes = drawn_boxes(15000, 300).view({3, 5000, 4});
  at::Tensor scores = at::randint(0, 900, {3, 5000}, at::kFloat);
  scores.masked_fill_(scores.lt(50), -std::numeric_limits<float>::infinity());
  const at::Tensor group = at::randint(0, 4, {3, 5000}, at::kLong);
  expect_the_same_kept(boxes, scores, 0.3, 5000, group, device, "drawn");
  expect_the_same_kept(boxes, scores, 0.1, 5000, {}, device, "drawn without groups");
  const at::Tensor odd = testing::odd_boxes();
  expect_the_same_kept(odd, at::rand({odd.size(0)}), 0.5, 20, {}, device, "odd");
  expect_the_same_kept(at::zeros({2, 0, 4}), at::zeros({2, 0}), 0.5, 3, {}, device, "none");
}

TEST_F(DetectionOnGpu, NmsCanBeRecordedInAGraph) {
  const at::Tensor boxes = drawn_boxes(400, 60).view({2, 200, 4}).to(gpu().device()),
                   scores = at::rand({2, 200}).to(gpu().device());
  nms_padded(boxes, scores, 0.3, 50);  // makes what is made once
  KeptBoxes recorded;
  const auto graph = gpu().capture([&] { recorded = nms_padded(boxes, scores, 0.3, 50); });
  ASSERT_NE(graph, nullptr);
  boxes.copy_(boxes.flip(1));
  scores.copy_(1 - scores);
  graph->replay();
  const KeptBoxes expected = nms_padded(boxes, scores, 0.3, 50);
  EXPECT_TRUE(recorded.indices.equal(expected.indices));
  EXPECT_TRUE(recorded.count.equal(expected.count));
}

TEST_F(DetectionOnGpu, BoxesAreTheCpus) {
  const at::Tensor corners = at::tensor(std::vector<float>{-2, -2, 2, 2});
  const at::Tensor a = drawn_boxes(40, 90) + corners, b = drawn_boxes(40, 90) + corners;
  const at::Device device = gpu().device();
  const at::Tensor here = a.to(device), there = b.to(device);
  testing::expect_near(box_ious(here, there).cpu(), box_ious(a, b), 1e-5, "IoU");
  testing::expect_near(decode_boxes(encode_boxes(here, there), there).cpu(), a, 1e-5, "coding");
  EXPECT_TRUE(grid_anchors({}, 4, 5, device).cpu().equal(grid_anchors({}, 4, 5)));
}

TEST_F(DetectionOnGpu, MatchesAreTheCpus) {
  at::manual_seed(7);
  const at::Tensor anchors = grid_anchors({.sizes = {16, 32, 64}}, 9, 13);
  const auto drawn = [](std::int64_t pictures, std::int64_t most) {
    std::vector<at::Tensor> of_pictures;
    for (std::int64_t q = 0; q < pictures; ++q) of_pictures.push_back(drawn_boxes(most, 200));
    return at::stack(of_pictures);
  };
  struct Case {
    at::Tensor boxes, labels;
    std::int64_t classes;
  };
  const std::vector<Case> cases{
      {drawn(4, 9), at::randint(-2, 5, {4, 9}, at::kLong), 5},
      {drawn(1, 1), at::zeros({1, 1}, at::kLong), 1},
      // Boxes that are anchors, so that many tie; none of class 2; all padding.
      {anchors.narrow(0, 100, 30).unsqueeze(0).repeat({2, 1, 1}),
       at::randint(0, 2, {2, 30}, at::kLong), 3},
      {drawn(3, 4), at::full({3, 4}, no_box, at::kLong), 2}};
  for (const Case& test : cases) {
    const AnchorMatching how{.classes = test.classes, .drawn = 64};
    const RowTargets wanted = match_anchors(anchors, test.boxes, test.labels, how);
    const at::Device device = gpu().device();
    const RowTargets found =
        match_anchors(anchors.to(device), test.boxes.to(device), test.labels.to(device), how);
    EXPECT_TRUE(found.positive.cpu().equal(wanted.positive));
    EXPECT_TRUE(found.weight.cpu().allclose(wanted.weight, 1e-6, 0));
    const at::Tensor counts = wanted.positive.unsqueeze(-1);
    EXPECT_TRUE(found.box.cpu().mul(counts).equal(wanted.box.mul(counts)));
  }
}

}  // namespace
}  // namespace lockstep
