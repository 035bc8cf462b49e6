// Captures that fail, of which nothing stays behind in torch; steps beside the graph, and in it.
#include "fakes/toy_recipe.h"
#include "gpu/gpu_fixture.h"
#include "gpu/step_rig.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace lockstep {
namespace {

using GraphTest = GpuTest;

constexpr std::int64_t mebibyte = 1 << 20;

// Ways to fail, each after some memory was allocated and a random number drawn.
std::vector<std::function<void(const at::Tensor&)>> failures() {
  return {
      [](const at::Tensor& x) { x.sum().item<double>(); },
      [](const at::Tensor& x) { x.nonzero(); },
      [](const at::Tensor&) { throw std::runtime_error("thrown by request"); },
      // A failure that nobody passes on: the capture is invalid all the same.
      [](const at::Tensor& x) {
        try {
          x.sum().item<double>();
        } catch (const std::exception&) {
        }
      },
  };
}

TEST_F(GraphTest, AFailedCaptureLeavesNothingBehind) {
  const auto options = at::TensorOptions().device(gpu().device());
  const at::Tensor source = gpu().host_empty({4 * mebibyte}, at::kFloat);  // 16 MiB
  source.fill_(1);
  for (const auto& failure : failures()) {
    const at::Tensor x = at::ones({mebibyte}, options);
    gpu().synchronize();
    gpu().release_cached_memory();
    const std::int64_t before = gpu().memory().reserved_bytes;
    EXPECT_ANY_THROW(gpu().capture([&] {
      const at::Tensor more = at::rand({64 * mebibyte}, options).add(x[0]);
      failure(more);
    }));
    // Torch's generator is out of the capture, and so are both allocators.
    EXPECT_GT(at::rand({1000}, options).mean().item<double>(), 0.3);
    gpu().release_cached_memory();
    EXPECT_LE(gpu().memory().reserved_bytes, before + 4 * mebibyte);
    std::int64_t early = 0;
    for (int i = 0; i < 60; ++i) {
      auto upload = gpu().upload({source});
      EXPECT_EQ(upload->take().at(0).sum().item<double>(), 4 * mebibyte);
      if (i == 9) early = gpu().memory().reserved_bytes;
    }
    EXPECT_LE(gpu().memory().reserved_bytes, early + 40 * mebibyte);
  }
}

TEST_F(GraphTest, AfterAFailedCaptureAnotherSucceedsAndReplays) {
  const auto options = at::TensorOptions().device(gpu().device());
  const at::Tensor x = at::zeros({8}, options);
  for (const auto& failure : failures()) EXPECT_ANY_THROW(gpu().capture([&] { failure(x); }));
  const auto graph = gpu().capture([&] { x.add_(at::rand({8}, options).gt(-1)); });
  ASSERT_NE(graph, nullptr);
  for (int i = 0; i < 5; ++i) graph->replay();
  EXPECT_TRUE(x.eq(5).all().item<bool>());
}

// Small ones are kernels in the graph, large ones stay what they are.
TEST_F(GraphTest, MemsetsHappenInEachReplayAtTheirPlace) {
  for (const std::int64_t size : {1, 3, 1000, 16384, 16385, 1 << 20})
    for (const at::ScalarType type : {at::kByte, at::kHalf, at::kFloat, at::kDouble}) {
      const auto options = at::TensorOptions().device(gpu().device()).dtype(type);
      const at::Tensor x = at::full({size + 1}, 7, options);
      const at::Tensor sum = at::zeros({}, options.dtype(at::kDouble));
      const at::Tensor inside = x.narrow(0, 0, size);
      const auto graph = gpu().capture([&] {
        inside.zero_();
        x.add_(1);
        sum.add_(inside.sum(at::kDouble));
        inside.zero_();
      });
      ASSERT_NE(graph, nullptr);
      for (int i = 0; i < 3; ++i) graph->replay();
      EXPECT_EQ(sum.item<double>(), 3.0 * static_cast<double>(size)) << size << ' ' << type;
      EXPECT_TRUE(inside.eq(0).all().item<bool>()) << size << ' ' << type;
      EXPECT_EQ(x[size].item<double>(), 10) << size << ' ' << type;
    }
}

// The toy, whose loss reads from the host (so no graph can be made of it), with a large field.
class ReadsBack : public testing::ToyRecipe {
 public:
  bool greedy = false;  // wants more memory than any GPU has
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    const double largest = batch.tensors[3].max().item<double>();
    if (greedy) at::empty({std::int64_t{1} << 46}, batch.tensors[3].options());
    std::vector<at::Tensor> terms = ToyRecipe::loss(model, batch, context);
    terms[0] = terms[0] + 0 * largest;
    return terms;
  }
};

TEST_F(GraphTest, AStepThatCannotBeRecordedKeepsItsMemoryAndItsRecovery) {
  ReadsBack recipe;
  testing::StepRig rig(recipe, gpu(), GraphMode::automatic);
  const at::Tensor large = gpu().host_empty({8, mebibyte / 2}, at::kFloat);  // 16 MiB
  large.fill_(1);
  const std::vector<std::vector<at::Tensor>> micro{
      {at::randn({8, 5}), at::randn({8, 3}), at::full({8, 3}, 1.0), large}};
  for (int i = 0; i < 20; ++i) rig.step(micro);
  const auto news = rig.runner().take_graph_news();
  ASSERT_TRUE(news.has_value());
  EXPECT_FALSE(news->captured);
  const std::int64_t before = gpu().memory().reserved_bytes;
  for (int i = 0; i < 200; ++i) rig.step(micro);
  EXPECT_LE(gpu().memory().reserved_bytes, before + 64 * mebibyte);  // not 200 fields more

  recipe.greedy = true;
  const StepResult dropped = rig.step(micro);
  EXPECT_TRUE(dropped.dropped);
  EXPECT_EQ(dropped.ranks.at(0).out_of_memory, Phase::forward);
  recipe.greedy = false;
  rig.runner().reset_after_drop();
  for (int i = 0; i < 10; ++i) {  // another capture is tried, and fails, meanwhile
    const StepResult result = rig.step(micro);
    EXPECT_FALSE(result.dropped);
    EXPECT_TRUE(std::isfinite(result.loss));
  }
}

// Batch norm and a layer, of which a graph can be made; a field that it only adds up.
class NormModel : public Model {
 public:
  std::vector<Parameter> parameters() override { return {{"scale", scale}, {"head", head}}; }
  std::vector<NamedTensor> buffers() override {
    return {{"running_mean", mean}, {"running_var", variance}};
  }
  at::Tensor scale = at::ones({5}).set_requires_grad(true);
  at::Tensor head = at::full({3, 5}, 0.1).set_requires_grad(true);
  at::Tensor mean = at::zeros({5}), variance = at::ones({5});
};

class NormRecipe : public testing::ToyRecipe {
 public:
  std::unique_ptr<Model> build(std::uint64_t) override { return std::make_unique<NormModel>(); }
  std::vector<std::string> terms() const override { return {"loss"}; }
  std::vector<double> loss_weights(const Batch& batch) const override {
    return {static_cast<double>(batch.size())};
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext&) override {
    auto& norm = dynamic_cast<NormModel&>(model);
    const at::Tensor x = at::batch_norm(batch.tensors[0], norm.scale, {}, norm.mean, norm.variance,
                                        /*training=*/true, 0.1, 1e-5, false);
    return {(at::linear(x, norm.head).square().sum() + batch.tensors[1].sum() * 1e-3)};
  }
};

struct ShapesRun {
  std::vector<double> losses;
  GraphCounts counts;
  std::int64_t reserved_bytes = 0;
};

// Steps whose second field has so many ones a row.
ShapesRun run_shapes(Backend& gpu, GraphMode mode, const std::vector<std::int64_t>& ones) {
  NormRecipe recipe;
  testing::StepRig rig(recipe, gpu, mode);
  ShapesRun run;
  for (std::size_t i = 0; i < ones.size(); ++i)
    run.losses.push_back(
        rig.step({{at::arange(40).view({8, 5}).mul(0.1 + 0.01 * static_cast<double>(i)).sin(),
                   at::ones({8, ones[i]})}})
            .loss);
  run.counts = rig.runner().graph_counts();
  run.reserved_bytes = gpu.memory().reserved_bytes;
  return run;
}

void expect_same_losses(const ShapesRun& by_graph, const ShapesRun& plain) {
  for (std::size_t i = 0; i < plain.losses.size(); ++i)
    EXPECT_NEAR(by_graph.losses[i], plain.losses[i], 1e-5 * plain.losses[i]) << "step " << i + 1;
}

TEST_F(GraphTest, AStepOfAnotherShapeRunsBesideTheGraph) {
  const std::vector<std::int64_t> ones{2, 2, 2, 2, 2, 2, 2, 9, 2, 2, 2, 2};
  const ShapesRun plain = run_shapes(gpu(), GraphMode::off, ones);
  EXPECT_EQ(plain.counts.by_graph, 0);
  const ShapesRun run = run_shapes(gpu(), GraphMode::automatic, ones);
  EXPECT_EQ(run.counts.shapes, 1);
  EXPECT_EQ(run.counts.eager, 4);
  expect_same_losses(run, plain);
}

// Their graphs share a pool: what one leaves in it, the next may overwrite.
TEST_F(GraphTest, ShapesThatComeAgainHaveAGraphEach) {
  std::vector<std::int64_t> ones;
  for (int i = 0; i < 60; ++i) ones.push_back(std::vector<std::int64_t>{2, 9, 300, 9, 4000}[i % 5]);
  const ShapesRun plain = run_shapes(gpu(), GraphMode::off, ones);
  const ShapesRun run = run_shapes(gpu(), GraphMode::automatic, ones);
  EXPECT_EQ(run.counts.shapes, 4);
  EXPECT_EQ(run.counts.eager, 4);  // three warm up, and the fifth is the first with 4000
  expect_same_losses(run, plain);
}

TEST_F(GraphTest, ASampleThatIsNoNumberLeavesNoTraceInBatchNorm) {
  NormRecipe recipe;
  testing::StepRig rig(recipe, gpu(), GraphMode::automatic);
  const at::Tensor x = at::arange(40).view({8, 5}).mul(0.3).sin(), ones = at::ones({8, 2});
  for (int i = 0; i < 6; ++i) rig.step({{x, ones}});
  ASSERT_EQ(rig.runner().graph_counts().shapes, 1);
  auto& model = dynamic_cast<NormModel&>(*rig.parts().model);
  const at::Tensor mean = model.mean.clone(), variance = model.variance.clone();
  at::Tensor spoilt = x.clone();
  spoilt[3][2] = std::nan("");
  EXPECT_TRUE(rig.step({{spoilt, ones}}).not_finite);
  EXPECT_TRUE(rig.step({{x, ones}}).dropped);  // not before all have heard of it
  EXPECT_TRUE(model.mean.equal(mean));
  EXPECT_TRUE(model.variance.equal(variance));
  rig.runner().reset_after_drop();
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(std::isfinite(rig.step({{x, ones}}).loss));
  EXPECT_FALSE(model.mean.equal(mean));
  EXPECT_EQ(rig.parts().buffers.not_finite(), "");
}

}  // namespace
}  // namespace lockstep
