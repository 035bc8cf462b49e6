#include "recipes/fewshot/model/net.h"

#include "ops/block_convolution/block_convolution.h"

#include <ATen/Parallel.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

namespace lockstep::fewshot {
namespace {

DetectorShape small(std::int64_t depth) {
  return {.depth = depth,
          .width = 4,
          .neck = 8,
          .hidden = 16,
          .embedding = 8,
          .anchor_sizes = {16, 32},
          .anchor_ratios = {1}};
}

std::int64_t parameters_of(torch::nn::Module& module) {
  std::int64_t count = 0;
  for (const at::Tensor& each : module.parameters()) count += each.numel();
  return count;
}

class Depths : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(Depths, HaveAsManyParametersAsThePlanSays) {
  const DetectorShape shape = small(GetParam());
  Detector net(shape);
  EXPECT_EQ(parameters_of(*net), parameter_count(shape));
}

TEST_P(Depths, MakeMapsAtStride16) {
  torch::manual_seed(1);
  Detector net(small(GetParam()));
  StepContext context;
  context.training = false;
  const at::Tensor maps = net->features(at::randn({2, 3, 64, 50}), context);
  EXPECT_EQ(maps.sizes(), (std::vector<std::int64_t>{2, 8, 4, 4}));
}

INSTANTIATE_TEST_SUITE_P(All, Depths, ::testing::Values(18, 34, 50, 101));

// The published numbers of ResNet's parameters, less the fourth stage's and the classifier's.
TEST(Trunk, HasTheSizeOfThePaper) {
  Trunk eighteen(18, 64), fifty(50, 64);
  EXPECT_EQ(parameters_of(*eighteen), 2'782'784);
  EXPECT_EQ(parameters_of(*fifty), 8'543'296);
}

TEST(Trunk, NamesItsPartsAsTorchvisionDoes) {
  Trunk trunk(50, 64);
  const auto names = trunk->named_parameters();
  for (const char* const name :
       {"conv1.weight", "bn1.bias", "layer1.0.conv3.weight", "layer1.0.downsample.0.weight",
        "layer1.0.downsample.1.weight", "layer2.3.bn2.weight", "layer3.5.conv1.weight"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_TRUE(trunk->named_buffers().contains("layer3.0.downsample.1.running_var"));
  EXPECT_FALSE(names.contains("layer1.1.downsample.0.weight"));
}

struct OfPictures {
  at::Tensor maps;
  std::vector<at::Tensor> gradients, statistics;
};
OfPictures with_recomputed(std::int64_t blocks, std::int64_t depth, bool frozen) {
  at::set_num_threads(1);  // with several, two runs of the same may round differently
  torch::manual_seed(4);
  DetectorShape shape = small(depth);
  shape.width = 16;  // LibTorch's convolutions of fewer write beyond their memory in backward
  Detector net(shape);
  StepContext context;
  context.recomputed_blocks = blocks;
  context.frozen_statistics = frozen;
  OfPictures result{.maps = net->features(at::rand({3, 3, 48, 48}), context)};
  result.maps.square().sum().backward();
  for (const auto& named : net->named_parameters())
    if (named.key().starts_with("trunk.")) result.gradients.push_back(named.value().grad());
  result.statistics = net->buffers();
  return result;
}

// A step that keeps less of an episode is the same step, statistics of batch norm included.
TEST(Trunk, GivesTheSameToTheBitWhereBlocksAreComputedAgain) {
  for (const std::int64_t depth : {18, 50})
    for (const bool frozen : {false, true}) {
      const OfPictures kept = with_recomputed(0, depth, frozen);
      for (const std::int64_t blocks : {1, 4, 1000}) {
        const OfPictures again = with_recomputed(blocks, depth, frozen);
        EXPECT_TRUE(again.maps.equal(kept.maps));
        for (std::size_t i = 0; i < kept.gradients.size(); ++i)
          EXPECT_TRUE(again.gradients[i].equal(kept.gradients[i])) << depth << ", " << i;
        for (std::size_t i = 0; i < kept.statistics.size(); ++i)
          EXPECT_TRUE(again.statistics[i].equal(kept.statistics[i])) << depth << ", " << i;
      }
      EXPECT_GT(kept.gradients[0].abs().sum().item<double>(), 0);
    }
}

// As on GPUs, with and without the stem computed again.
TEST(Trunk, GivesTheSameOfPicturesInBlocks) {
  for (const std::int64_t size : {48, 50, 35}) {
    torch::manual_seed(5);
    const at::Tensor x = at::randn({2, 3, size, 48});
    DetectorShape shape = small(18);
    shape.width = 16;
    OfPictures found[3];
    for (std::size_t i = 0; i < 3; ++i) {
      torch::manual_seed(4);
      Detector net(shape);
      StepContext context;
      context.recomputed_blocks = i == 2 ? 1 : 0;
      found[i].maps = i == 0 ? net->features(x, context)
                             : net->features(in_blocks(x), context, PictureLayout::blocks);
      found[i].maps.square().sum().backward();
      for (const auto& named : net->named_parameters())
        if (named.key().starts_with("trunk.")) found[i].gradients.push_back(named.value().grad());
      found[i].statistics = net->buffers();
    }
    const auto expect_same = [](const at::Tensor& a, const at::Tensor& b) {
      const double norm = b.norm().item<double>();
      EXPECT_LE((a - b).norm().item<double>(), 1e-3 * norm + 1e-5);
    };
    for (std::size_t i = 1; i < 3; ++i) {
      ASSERT_EQ(found[i].maps.sizes(), found[0].maps.sizes());
      expect_same(found[i].maps, found[0].maps);
      for (std::size_t j = 0; j < found[0].gradients.size(); ++j)
        expect_same(found[i].gradients[j], found[0].gradients[j]);
      for (std::size_t j = 0; j < found[0].statistics.size(); ++j)
        expect_same(found[i].statistics[j].to(at::kFloat), found[0].statistics[j].to(at::kFloat));
    }
    EXPECT_EQ(found[1].gradients[0].sizes(), (std::vector<std::int64_t>{16, 3, 7, 7}));
    EXPECT_GT(found[1].gradients[0].abs().sum().item<double>(), 0);
  }
}

// A class's code is the mean of its supports', in the order in which they come.
TEST(Codes, AreMeansOfTheClassesSupports) {
  torch::manual_seed(2);
  Detector net(small(18));
  const at::Tensor maps = at::rand({4, 8, 4, 4});
  const at::Tensor boxes = at::tensor({8.0F, 8.0F, 56.0F, 40.0F}).expand({4, 4}).contiguous();
  const ClassCodes both = net->codes(maps, boxes, 2);
  ASSERT_EQ(both.prototypes.sizes(), (std::vector<std::int64_t>{2, 8}));
  const ClassCodes second = net->codes(maps.narrow(0, 2, 2), boxes.narrow(0, 0, 2), 1);
  EXPECT_TRUE(both.prototypes[1].allclose(second.prototypes[0], 1e-5, 1e-6));
  EXPECT_TRUE(both.kernels[1].allclose(second.kernels[0], 1e-5, 1e-6));
  EXPECT_NEAR(both.prototypes.norm(2, {1}).min().item<float>(), 1, 1e-5);
}

// A region is most like a class of which it is the support, and an anchor's numbers are those of
// its place.
TEST(Regions, AreComparedWithPrototypes) {
  torch::manual_seed(3);
  Detector net(small(18));
  const at::Tensor maps = at::randn({2, 8, 4, 4}).relu();
  const at::Tensor boxes = at::tensor({8.0F, 8.0F, 56.0F, 40.0F}).expand({2, 4}).contiguous();
  const ClassCodes codes = net->codes(maps, boxes, 2);
  const RegionOutputs found = net->regions(maps, boxes, at::tensor({1, 0}, at::kLong), codes);
  ASSERT_EQ(found.logits.sizes(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_NEAR(found.logits[0][1].item<float>(), 10, 1e-3);  // the factor begins at 10
  EXPECT_NEAR(found.logits[1][0].item<float>(), 10, 1e-3);
  EXPECT_LT(found.logits[0][0].item<float>(), 10);
  const AnchorOutputs anchors = net->anchors(maps, codes);
  EXPECT_EQ(anchors.objectness.sizes(), (std::vector<std::int64_t>{2, 2, 4 * 4, 2}));
  EXPECT_EQ(anchors.deltas.sizes(), (std::vector<std::int64_t>{2, 2, 4 * 4, 2, 4}));
}

}  // namespace
}  // namespace lockstep::fewshot
