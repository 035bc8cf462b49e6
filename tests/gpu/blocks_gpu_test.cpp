// A model of a table and blocks: its graph updates weights beside the forward pass, makes gradients
// beside the backward pass and skips what no step made dirty, and changes no bit by any of it.
#include "fakes/toy_recipe.h"
#include "gpu/gpu_fixture.h"
#include "gpu/step_rig.h"
#include "ops/activation/activation.h"
#include "ops/convolution/convolution.h"
#include "ops/embedding/embedding_sum.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/linear/linear.h"
#include "ops/pointwise/pointwise.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace lockstep {
namespace {

constexpr std::int64_t words = 5000, width = 64, tokens_per_row = 16;
constexpr int blocks = 4;

class BlocksModel : public Model {
 public:
  struct Layer {
    at::Tensor scale, shift, weight, bias, bend, filter, point, point_bias;
  };
  BlocksModel() {
    table = add("table", {words, width});
    for (int i = 0; i < blocks; ++i) {
      const std::string name = "block" + std::to_string(i) + ".";
      Layer layer;
      layer.scale = add(name + "scale", {width});
      layer.shift = add(name + "shift", {width});
      layer.weight = add(name + "weight", {width, width});
      layer.bias = add(name + "bias", {width});
      layer.bend = add(name + "bend", {width});
      layer.filter = add(name + "filter", {width, width, 3, 3});
      layer.filter.set_data(layer.filter.detach().contiguous(at::MemoryFormat::ChannelsLast));
      layer.point = add(name + "point", {width, width, 1, 1});
      layer.point_bias = add(name + "point_bias", {width});
      layers.push_back(layer);
    }
    head = add("head", {8, width});
  }
  std::vector<Parameter> parameters() override { return all_; }

  at::Tensor table, head;
  std::vector<Layer> layers;

 private:
  at::Tensor add(const std::string& name, const std::vector<std::int64_t>& sizes) {
    std::int64_t elements = 1;
    for (const std::int64_t size : sizes) elements *= size;
    const at::Tensor values = at::arange(elements, at::kFloat)
                                  .mul(0.37 + 0.1 * static_cast<double>(all_.size()))
                                  .sin()
                                  .mul(sizes.size() == 1 ? 0.5 : 0.1)
                                  .view(sizes)
                                  .clone();
    all_.push_back({name, values.set_requires_grad(true)});
    return values;
  }
  std::vector<Parameter> all_;
};

class BlocksRecipe : public testing::ToyRecipe {
 public:
  std::unique_ptr<Model> build(std::uint64_t) override { return std::make_unique<BlocksModel>(); }
  std::vector<std::string> terms() const override { return {"loss"}; }
  std::vector<double> loss_weights(const Batch& batch) const override {
    return {static_cast<double>(batch.size())};
  }
  std::vector<at::Tensor> loss(Model& any, const Batch& batch, StepContext& context) override {
    auto& model = dynamic_cast<BlocksModel&>(any);
    at::Tensor x = embedding_sum({{.rows = batch.tensors[0].flatten(), .table = model.table}});
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
      const BlocksModel::Layer& layer = model.layers[i];
      const auto block = [&layer](const std::vector<at::Tensor>& in) {
        at::Tensor y = std::get<1>(residual_layer_norm(in[0], {}, layer.scale, layer.shift, 1e-5));
        y = bias_gelu(linear_layer(y, layer.weight, layer.bias), layer.bend, /*tanh=*/false);
        y = y.view({-1, 4, 4, width}).permute({0, 3, 1, 2});
        y = convolution(y, layer.filter, {}, {.padding = {1}});
        y = pointwise_convolution(y, layer.point, layer.point_bias);
        return std::vector{in[0] + y.permute({0, 2, 3, 1}).reshape({-1, width})};
      };
      x = context.block(static_cast<std::int64_t>(i), block, {x},
                        {layer.scale, layer.shift, layer.weight, layer.bias, layer.bend,
                         layer.filter, layer.point, layer.point_bias})[0];
    }
    return {linear_layer(x, model.head).to(at::kFloat).square().sum() * 1e-2};
  }
};

struct BlocksRun {
  std::vector<double> losses;
  at::Tensor weights;
  std::int64_t by_graph = 0, clean = 0;
};

// Other words in each step; one step in between has fewer rows.
BlocksRun run_blocks(Backend& gpu, GraphMode graph, Precision precision,
                     OptimizerKind kind = OptimizerKind::adamw) {
  BlocksRecipe recipe;
  testing::StepRig rig(recipe, gpu, graph, precision, kind);
  BlocksRun run;
  for (int step = 0; step < 24; ++step) {
    const std::int64_t rows = step == 14 ? 3 : 8;
    const at::Tensor words_of_step =
        at::arange(rows * tokens_per_row).mul(3).add(41 * step).remainder(words);
    run.losses.push_back(rig.step({{words_of_step.view({rows, tokens_per_row})}}).loss);
  }
  rig.runner().flush_update();
  run.weights = rig.parts().storage.master().cpu();
  run.by_graph = rig.runner().graph_counts().by_graph;
  if (rig.parts().gradients.dirty().flags().defined())
    run.clean = rig.parts().gradients.dirty().flags().eq(0).sum().item<std::int64_t>();
  return run;
}

using BlocksOnGpu = GpuTest;

TEST_F(BlocksOnGpu, TheGraphChangesNoBit) {
  const Deterministic deterministic;
  for (const Precision precision : {Precision::bf16, Precision::fp16, Precision::fp32}) {
    const BlocksRun plain = run_blocks(gpu(), GraphMode::off, precision);
    const BlocksRun run = run_blocks(gpu(), GraphMode::automatic, precision);
    EXPECT_EQ(plain.by_graph, 0);
    EXPECT_GE(run.by_graph, 19);
    EXPECT_EQ(run.losses, plain.losses);
    EXPECT_TRUE(run.weights.equal(plain.weights));
    EXPECT_NE(run.losses.back(), run.losses.front());
  }
}

// Decay that is added to the gradient gives moments to what no step used.
TEST_F(BlocksOnGpu, TheGraphChangesNoBitOfAdamWithDecay) {
  const Deterministic deterministic;
  const BlocksRun plain = run_blocks(gpu(), GraphMode::off, Precision::bf16, OptimizerKind::adam);
  const BlocksRun run =
      run_blocks(gpu(), GraphMode::automatic, Precision::bf16, OptimizerKind::adam);
  EXPECT_EQ(run.losses, plain.losses);
  EXPECT_TRUE(run.weights.equal(plain.weights));
}

// All its matrices are updated at once, so the graph begins with no update.
TEST_F(BlocksOnGpu, TheGraphChangesNoBitOfMuon) {
  const Deterministic deterministic;
  const BlocksRun plain = run_blocks(gpu(), GraphMode::off, Precision::bf16, OptimizerKind::muon);
  const BlocksRun run =
      run_blocks(gpu(), GraphMode::automatic, Precision::bf16, OptimizerKind::muon);
  EXPECT_GE(run.by_graph, 19);
  EXPECT_EQ(run.losses, plain.losses);
  EXPECT_TRUE(run.weights.equal(plain.weights));
}

TEST_F(BlocksOnGpu, TheGraphPassesOverWordsThatNoStepHad) {
  EXPECT_EQ(run_blocks(gpu(), GraphMode::off, Precision::bf16).clean, 0);
  // Each step has 128 words, every third one, and begins 41 further on than the step before.
  const BlocksRun run = run_blocks(gpu(), GraphMode::automatic, Precision::bf16);
  EXPECT_GT(run.clean, 200);  // of 312 that the table has
  EXPECT_LT(run.clean, 260);
}

}  // namespace
}  // namespace lockstep
