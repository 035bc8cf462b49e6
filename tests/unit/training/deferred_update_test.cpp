// Weights that are updated at the beginning of the next step's graph, part by part, and gradients
// that are made beside the backward pass: the same numbers as without, though here that work is not
// done before somebody waits for it.
#include "training/graph/block_observer.h"
#include "training/graph/step_capture.h"

#include "fakes/delayed_work.h"
#include "fakes/rank_parts.h"
#include "fakes/thread_ranks.h"
#include "fakes/toy_recipe.h"
#include "ops/activation/activation.h"
#include "ops/convolution/convolution.h"
#include "ops/embedding/embedding.h"
#include "ops/embedding/embedding_sum.h"
#include "ops/linear/joined_linear.h"
#include "ops/linear/linear.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/binary_cross_entropy.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <c10/util/accumulate.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

constexpr int blocks = 3, width = 8;

struct Layer {
  at::Tensor weight, bias, bend, q, k, v, qb, kb, vb, filter;
};

class BlockModel : public Model {
 public:
  explicit BlockModel(std::int64_t word_count = 0) {
    if (word_count > 0) words = add("words", {word_count, width});
    enter = add("enter", {width, 5});
    for (int i = 0; i < blocks; ++i) {
      const std::string name = "block" + std::to_string(i) + ".";
      Layer layer;
      layer.weight = add(name + "weight", {width, width});
      layer.bias = add(name + "bias", {width});
      layer.bend = add(name + "bend", {width});
      layer.q = add(name + "q", {width, width});
      layer.k = add(name + "k", {width, width});
      layer.v = add(name + "v", {width, width});
      layer.qb = add(name + "qb", {width});
      layer.kb = add(name + "kb", {width});
      layer.vb = add(name + "vb", {width});
      layer.filter = add(name + "filter", {2, 2, 3, 3});
      layer.filter.set_data(layer.filter.detach().contiguous(at::MemoryFormat::ChannelsLast));
      layers.push_back(layer);
    }
    leave = add("leave", {3, width});  // of a product, and a table
    places = add("places", {1, width});
    last = add("last", {width, width});
  }
  std::vector<Parameter> parameters() override { return all_; }

  at::Tensor enter, leave, places, last, words;
  std::vector<Layer> layers;

 private:
  at::Tensor add(const std::string& name, const std::vector<std::int64_t>& sizes) {
    const std::int64_t count = c10::multiply_integers(sizes);
    const double first = 1.7 * static_cast<double>(all_.size());
    at::Tensor made = at::arange(count, at::kFloat).mul(0.9).add(first).sin().mul(0.3).view(sizes);
    made = made.requires_grad_();
    all_.push_back({.name = name, .tensor = made});
    return made;
  }
  std::vector<Parameter> all_;
};

// Of a function of x by x, which needs no gradient of the weights.
at::Tensor slope(const at::Tensor& x, const Layer& layer, const at::Tensor& last) {
  const at::Tensor leaf = x.detach().requires_grad_();
  at::Tensor y = linear_layer(leaf, layer.weight, layer.bias);
  y = joined_linear(y, {layer.q, layer.k, layer.v}, {layer.qb, layer.kb, layer.vb}).sum(-2);
  y = linear_layer(y, last, {}).view({-1, 2, 2, width / 4}).contiguous();
  y = convolution(y, layer.filter, {}, {.stride = {1}, .padding = {1}});
  return torch::autograd::grad({y.to(at::kFloat).square().sum()}, {leaf})[0].mul(0.1);
}

class BlockRecipe : public testing::ToyRecipe {
 public:
  bool early = false;       // reads a block's weights before it begins
  int early_rows = 0;       // the same, for a batch of so many rows
  bool asserts = false;     // has a loss that takes probabilities alone
  bool peeks = false;       // reads a weight of the end at the beginning, without a gradient
  bool tables = false;      // ATen's operators give gradients of what products use, too
  std::int64_t words = 0;   // of a table of which it reads few rows
  int word_reads = 1;       // in a forward pass
  bool sees_words = false;  // and it adds up the whole table, without a gradient
  bool shares = false;      // the last block computes with the first one's weight too
  bool perturbs = false;    // differentiates by x in the loss
  bool reads_host = false;
  int forwards = 0;

  std::unique_ptr<Model> build(std::uint64_t) override {
    return std::make_unique<BlockModel>(words);
  }
  std::vector<std::string> terms() const override { return {"loss"}; }
  std::vector<double> loss_weights(const Batch& batch) const override {
    return {batch.row_weight.sum().item<double>()};
  }
  std::vector<at::Tensor> loss(Model& any, const Batch& batch, StepContext& context) override {
    ++forwards;
    if (reads_host) static_cast<void>(batch.host().size());
    auto& model = dynamic_cast<BlockModel&>(any);
    const at::Tensor tokens = at::arange(batch.size()).remainder(3).view({-1, 1});
    at::Tensor x = linear_layer(batch.tensors[0].to(context.compute_dtype), model.enter, {});
    x = x.add(embed_tokens(tokens, model.leave, model.places).squeeze(1));
    if (tables) x = x.add(at::embedding(model.leave, tokens).squeeze(1));
    for (int read = 0; read < word_reads && words > 0; ++read) {
      const at::Tensor rows = batch.tensors[0].select(1, read).mul(1000).abs().to(at::kLong);
      x = x.add(embedding_sum({{.rows = rows, .table = model.words}}));
    }
    if (sees_words) x = x.add(model.words.detach().sum());
    if (early || batch.size() == early_rows) x = x.add(model.layers[2].weight.detach().sum());
    if (peeks) x = x.add(model.last.detach().sum());
    for (int i = 0; i < blocks; ++i) {
      const Layer& layer = model.layers[static_cast<std::size_t>(i)];
      const at::Tensor first = model.layers[0].weight;
      const bool twice = shares && i + 1 == blocks;
      const auto block = [layer, first, twice](const std::vector<at::Tensor>& in) {
        at::Tensor y = linear_layer(in[0], layer.weight, layer.bias);
        y = bias_gelu(y, layer.bend, /*tanh=*/false);
        if (twice) y = linear_layer(at::relu(y), first, {});
        y = joined_linear(at::relu(y), {layer.q, layer.k, layer.v}, {layer.qb, layer.kb, layer.vb})
                .sum(-2);
        const at::Tensor picture =
            y.view({-1, 2, 2, width / 4}).contiguous(at::MemoryFormat::ChannelsLast);
        const at::Tensor convolved =
            convolution(picture, layer.filter, {}, {.stride = {1}, .padding = {1}});
        return std::vector<at::Tensor>{in[0].add(convolved.reshape(in[0].sizes()))};
      };
      std::vector<at::Tensor> used{layer.weight, layer.bias, layer.bend, layer.q,  layer.k,
                                   layer.v,      layer.qb,   layer.kb,   layer.vb, layer.filter};
      if (twice) used.push_back(first);
      x = context.block(i, block, {x}, used)[0];
    }
    if (perturbs) x = x.add(slope(x, model.layers[1], model.last));
    x = linear_layer(x, model.last, {});
    if (asserts) x = x.add(at::binary_cross_entropy(at::sigmoid(x), at::full_like(x, 0.5)));
    const at::Tensor error = linear_layer(x, model.leave, {}).to(at::kFloat) - batch.tensors[1];
    return {(error.square().sum(1) * batch.row_weight).sum()};
  }
};

struct TrainedLater {
  std::vector<double> losses;
  std::vector<at::Tensor> weights;
};

struct DeferringRank {
  DeferringRank(Recipe& recipe_in, const TrainOptions& options, ProcessGroup& group_in,
                Backend& backend)
      : recipe(recipe_in), group(group_in), parts(options, recipe_in, group_in, backend) {}

  StepResult step(std::int64_t rows, double poison = 0) {
    StepData data{.step = steps++, .weights = {0}};
    for (int m = 0; m < 2; ++m) {
      const double at = 0.37 * static_cast<double>(4 * steps + 2 * m + group.rank());
      Batch batch{.tensors = {at::arange(rows * 5, at::kFloat).add(at).sin().view({rows, 5}),
                              at::arange(rows * 3, at::kFloat).add(at).cos().view({rows, 3})},
                  .row_weight = at::full({rows}, 1.0)};
      if (poison != 0) batch.tensors[0][0][0] = poison;
      data.weights[0] += recipe.loss_weights(batch)[0];
      data.batches.push_back(std::move(batch));
    }
    return parts.runner.run(parts.runner.stage(std::move(data)), /*lr=*/1e-2, {}).get();
  }
  std::vector<at::Tensor> weights() {
    std::vector<at::Tensor> all;
    for (const Parameter& parameter : parts.storage.parameters())
      all.push_back(parameter.tensor.detach().clone());
    return all;
  }

  Recipe& recipe;
  ProcessGroup& group;
  testing::RankParts parts;
  std::int64_t steps = 0;
};

struct With : TrainOptions {
  explicit With(Precision precision_in, const std::function<void(TrainOptions&)>& change = {}) {
    precision = precision_in;
    if (change) change(*this);
  }
};

void expect_same(const std::vector<at::Tensor>& found, const std::vector<at::Tensor>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(found[i].equal(expected[i])) << "parameter " << i;
}

// Both runs, of steps with so many rows.
void expect_same_runs(BlockRecipe& recipe, const TrainOptions& options,
                      const std::vector<std::int64_t>& rows, int* done = nullptr) {
  ProcessGroup group{World{}, cpu_backend()};
  testing::DelayingBackend backend;
  DeferringRank plain(recipe, options, group, cpu_backend()),
      beside(recipe, options, group, backend);
  for (const std::int64_t count : rows) {
    const double expected = plain.step(count).loss;
    EXPECT_EQ(beside.step(count).loss, expected) << "step " << plain.steps;
  }
  beside.parts.runner.flush_update();
  expect_same(beside.weights(), plain.weights());
  EXPECT_GT(backend.replayed, 0);
  if (done != nullptr) *done = backend.done;
}

const std::vector<std::int64_t> ten_steps(10, 4);
constexpr int by_graph = 7;  // of ten steps: three warm up

TEST(DeferredUpdate, GivesTheSameWeights) {
  for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::fp16})
    for (const OptimizerKind kind :
         {OptimizerKind::adamw, OptimizerKind::adam, OptimizerKind::sgd, OptimizerKind::muon}) {
      BlockRecipe recipe;
      int done = 0;
      expect_same_runs(recipe, With(precision, [&](TrainOptions& o) { o.optimizer.kind = kind; }),
                       ten_steps, &done);
      const int updates = by_graph * (blocks + 1);
      // In low precision gradients are made beside, too.
      if (precision == Precision::fp32)
        EXPECT_EQ(done, updates);
      else
        EXPECT_GT(done, updates);
    }
}

TEST(DeferredUpdate, KnowsWeightsThatTwoBlocksUse) {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    BlockRecipe recipe;
    recipe.shares = true;
    expect_same_runs(recipe, With(precision), ten_steps);
  }
}

constexpr std::int64_t many_words = 40'000;

// How many works it took beyond those of a model without the table.
int works_of_a_table(int reads, bool sees_words = false) {
  BlockRecipe recipe;
  int done = 0, without = 0;
  expect_same_runs(recipe, With(Precision::bf16), ten_steps, &without);
  recipe.words = many_words;
  recipe.word_reads = reads;
  recipe.sees_words = sees_words;
  expect_same_runs(recipe, With(Precision::bf16), ten_steps, &done);
  return done - without;
}

TEST(DeferredUpdate, HasATableThatIsReadOnceAsAPartOfItsOwn) {
  // One behind the blocks' begins it, one is it.
  EXPECT_EQ(works_of_a_table(/*reads=*/1), 2 * by_graph);
}

TEST(DeferredUpdate, UpdatesATableFirstThatIsReadOtherwiseToo) {
  EXPECT_EQ(works_of_a_table(/*reads=*/2), 0);
  EXPECT_EQ(works_of_a_table(/*reads=*/1, /*sees_words=*/true), 0);
}

TEST(DeferredUpdate, UpdatesATableWithStepsInBetweenThatHaveNoGraph) {
  BlockRecipe recipe;
  recipe.words = many_words;
  expect_same_runs(recipe, With(Precision::bf16), {4, 4, 4, 4, 4, 4, 6, 4, 2, 4, 6, 4, 4});
}

TEST(DeferredUpdate, GivesWayToGradientsThatAutogradAdds) {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    BlockRecipe recipe;
    recipe.tables = true;
    expect_same_runs(recipe, With(precision), ten_steps);
  }
}

TEST(DeferredUpdate, IsNotMadeWhereAForwardPassReadsWeightsBeforeTheirBlock) {
  BlockRecipe recipe;
  recipe.early = true;
  int done = 0;
  expect_same_runs(recipe, With(Precision::fp32), ten_steps, &done);
  EXPECT_EQ(done, 0);
}

// One of the shapes alone cannot have it.
TEST(DeferredUpdate, IsMadeForOtherShapesAfterOneForWhichItIsWrong) {
  BlockRecipe recipe;
  recipe.early_rows = 6;
  const With options(Precision::fp32);
  ProcessGroup group{World{}, cpu_backend()};
  testing::DelayingBackend backend;
  DeferringRank plain(recipe, options, group, cpu_backend()),
      beside(recipe, options, group, backend);
  std::vector<int> done;  // work on side streams, by shape
  for (const std::int64_t rows : {4, 6, 2}) {
    const int before = backend.done;
    for (int step = 0; step < 6; ++step) EXPECT_EQ(beside.step(rows).loss, plain.step(rows).loss);
    done.push_back(backend.done - before);
  }
  beside.parts.runner.flush_update();
  expect_same(beside.weights(), plain.weights());
  EXPECT_GT(done[0], 0);
  EXPECT_EQ(done[1], 0);
  EXPECT_GT(done[2], 0);
}

// Work on side streams that the device refuses.
class RefusedWork : public testing::DelayedWork {
 public:
  using DelayedWork::DelayedWork;
  void wait(std::int64_t) override { throw std::runtime_error("refused"); }
};

TEST(DeferredUpdate, ThatBreaksOffLeavesNothingToTheOtherSteps) {
  BlockRecipe recipe;
  recipe.words = many_words;
  const With options(Precision::bf16);
  ProcessGroup group{World{}, cpu_backend()};
  DeferringRank rank(recipe, options, group, cpu_backend());
  rank.step(4);
  GradientBuffers& gradients = rank.parts.gradients;
  const auto eager = gradients.step_plan();
  std::size_t words = 0;
  while (rank.parts.storage.parameters()[words].name != "words") ++words;
  UpdatePlan plan = gradients.plan();
  const std::vector<bool> no_early(plan.parameters.size(), true);
  defer_update(plan, {.blocks = {0}, .parameters = {{}}, .is_early = no_early},
               gradients.large_sparse(), Deferral::sparse_behind_reader);
  ASSERT_EQ(plan.sparse_parameter(plan.block_groups), words);
  const auto deferred = rank.parts.optimizer.prepare_plan(plan, /*for_graph=*/true);
  {
    testing::DelayingBackend backend;
    backend.side_work(false);
    StepCapture capture(gradients, rank.parts.optimizer, rank.parts.reducer, backend, deferred);
    capture.begin_step();
    EXPECT_EQ(gradients.step_plan(), deferred);
    EXPECT_NE(gradients[words].deferred_update(), nullptr);
    EXPECT_NE(gradients[words].side_work(), nullptr);
  }
  EXPECT_EQ(gradients.step_plan(), eager);
  EXPECT_EQ(gradients[words].deferred_update(), nullptr);
  EXPECT_EQ(gradients[words].side_work(), nullptr);
  gradients.use(deferred);
  int done = 0;
  RefusedWork side(done), second(done);
  EXPECT_THROW(DeferredUpdate(gradients, rank.parts.optimizer, side, second), std::runtime_error);
  EXPECT_EQ(gradients[words].deferred_update(), nullptr);
  gradients.use(eager);
  EXPECT_TRUE(std::isfinite(rank.step(4).loss));
}

TEST(DeferredUpdate, IsFoundOutWithoutANumberThatNoLossCanTake) {
  BlockRecipe recipe;
  recipe.asserts = true;
  int done = 0;
  expect_same_runs(recipe, With(Precision::fp32), ten_steps, &done);
  EXPECT_GT(done, 0);
  recipe.early = true;
  expect_same_runs(recipe, With(Precision::fp32), ten_steps, &done);
  EXPECT_EQ(done, 0);
}

TEST(DeferredUpdate, ComesFirstForWhatSeemsToBeUsedLate) {
  BlockRecipe recipe;
  recipe.peeks = true;
  int done = 0;
  expect_same_runs(recipe, With(Precision::fp32), ten_steps, &done);
  EXPECT_EQ(done, by_graph * (blocks + 1));
}

TEST(BlockObserver, SeesWhatEachBlockUsesAndWhatComesBeforeTheLastOne) {
  BlockModel model;
  ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
  GradientBuffers gradients(storage);
  ProcessGroup group{World{}, cpu_backend()};
  const Reducer keeps_nodes(gradients, group, ReducePrecision::fp32);
  BlockObserver observer(storage);
  observer.begin_forward();
  at::Tensor x = linear_layer(at::full({2, 5}, 1.0), model.enter, {});
  for (const int block : {2, 0}) {
    const Layer& layer = model.layers[static_cast<std::size_t>(block)];
    observer.see(block, {layer.weight, layer.bias});
    x = linear_layer(x, layer.weight, layer.bias);
  }
  x = linear_layer(x, model.leave, {});
  const BlockUse& use = observer.use();
  EXPECT_EQ(use.blocks, (std::vector<std::int64_t>{2, 0}));
  const auto names = [&](const std::vector<std::size_t>& parameters) {
    std::vector<std::string> all;
    for (const std::size_t i : parameters) all.push_back(storage.parameters()[i].name);
    return all;
  };
  EXPECT_EQ(names(use.parameters[0]), (std::vector<std::string>{"block2.weight", "block2.bias"}));
  EXPECT_EQ(names(use.parameters[1]), (std::vector<std::string>{"block0.weight", "block0.bias"}));
  std::vector<std::string> early;
  for (std::size_t i = 0; i < storage.parameters().size(); ++i)
    if (use.is_early[i]) early.push_back(storage.parameters()[i].name);
  EXPECT_EQ(early, (std::vector<std::string>{"enter", "block2.weight", "block2.bias"}));
  observer.see(0, {model.leave});  // only a block's first forward pass counts
  EXPECT_EQ(use.parameters[1].size(), 2U);
}

TEST(DeferredUpdate, IsMadeBeforeStepsThatHaveNoGraph) {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    BlockRecipe recipe;
    expect_same_runs(recipe, With(precision), {4, 4, 4, 4, 4, 4, 6, 4, 2, 4, 6, 4, 4});
  }
}

TEST(DeferredUpdate, IsTheSameInExactMode) {
  BlockRecipe recipe;
  int done = 0;
  expect_same_runs(recipe, With(Precision::fp32, [](TrainOptions& o) { o.exact = true; }),
                   ten_steps, &done);
  EXPECT_EQ(done, by_graph * (blocks + 1));
}

TEST(DeferredUpdate, IsNotMadeWhereAnAverageFollowsTheWeights) {
  BlockRecipe recipe;
  int done = 0;
  expect_same_runs(recipe, With(Precision::fp32, [](TrainOptions& o) { o.ema.decay = 0.5; }),
                   ten_steps, &done);
  EXPECT_EQ(done, 0);
}

TEST(DeferredUpdate, IsTheSameWhereBlocksAreComputedAgain) {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    BlockRecipe recipe;
    const With options(precision);
    ProcessGroup group{World{}, cpu_backend()};
    testing::DelayingBackend backend;
    DeferringRank plain(recipe, options, group, cpu_backend()),
        beside(recipe, options, group, backend);
    for (DeferringRank* rank : {&plain, &beside}) rank->parts.runner.recompute_all_blocks();
    for (int i = 0; i < 10; ++i) EXPECT_EQ(beside.step(4).loss, plain.step(4).loss);
    beside.parts.runner.flush_update();
    expect_same(beside.weights(), plain.weights());
    EXPECT_GT(backend.done, 0);
  }
}

// Without work on a side stream there is nothing to gain, and no update is deferred.
TEST(DeferredUpdate, IsNotMadeWithoutWorkBeside) {
  BlockRecipe recipe;
  const With options(Precision::bf16);
  ProcessGroup group{World{}, cpu_backend()};
  testing::GraphBackend backend;
  DeferringRank plain(recipe, options, group, cpu_backend()),
      other(recipe, options, group, backend);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(other.step(4).loss, plain.step(4).loss);
  EXPECT_EQ(backend.replayed, by_graph);
  expect_same(other.weights(), plain.weights());
  other.parts.runner.flush_update();
  expect_same(other.weights(), plain.weights());
}

// A pass for the loss's own use adds nothing to gradients, wherever those are made.
TEST(GradientsBeside, AreNotMadeOfAPassInsideTheLoss) {
  BlockRecipe recipe;
  recipe.perturbs = true;
  for (const Precision precision : {Precision::fp32, Precision::bf16})
    expect_same_runs(recipe, With(precision), ten_steps);
}

TEST(DeferredUpdate, OfALossThatReadsTheHostIsNotTried) {
  BlockRecipe recipe;
  recipe.reads_host = true;
  const With options(Precision::fp32);
  ProcessGroup group{World{}, cpu_backend()};
  testing::DelayingBackend backend;
  DeferringRank rank(recipe, options, group, backend);
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(rank.step(4).dropped);
  const auto news = rank.parts.runner.take_graph_news();
  ASSERT_TRUE(news.has_value());
  EXPECT_FALSE(news->captured);
  EXPECT_EQ(news->why_not,
            "the loss reads Batch::host(), which a CUDA graph would repeat as it was in the "
            "captured step");
}

TEST(DeferredUpdate, IsOwedUntilSomebodySettles) {
  BlockRecipe recipe;
  ProcessGroup group{World{}, cpu_backend()};
  testing::DelayingBackend backend;
  const With options(Precision::fp32);
  DeferringRank plain(recipe, options, group, cpu_backend()),
      beside(recipe, options, group, backend);
  std::vector<at::Tensor> before;
  for (int i = 0; i < 8; ++i) {
    before = plain.weights();
    plain.step(4);
    beside.step(4);
  }
  expect_same(beside.weights(), before);
  for (int i = 0; i < 2; ++i) {  // a second time it changes nothing
    beside.parts.runner.flush_update();
    expect_same(beside.weights(), plain.weights());
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(beside.step(4).loss, plain.step(4).loss);
}

TEST(DeferredUpdate, OfAStepThatIsNotFiniteChangesNothing) {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    BlockRecipe recipe;
    ProcessGroup group{World{}, cpu_backend()};
    testing::DelayingBackend backend;
    const With options(precision);
    DeferringRank plain(recipe, options, group, cpu_backend()),
        beside(recipe, options, group, backend);
    for (DeferringRank* rank : {&plain, &beside}) {
      for (int i = 0; i < 7; ++i) rank->step(4);
      EXPECT_TRUE(rank->step(4, std::nan("")).not_finite);
      EXPECT_TRUE(rank->step(4).dropped);
      rank->parts.runner.reset_after_drop();
    }
    expect_same(beside.weights(), plain.weights());
    for (int i = 0; i < 8; ++i) EXPECT_EQ(beside.step(4).loss, plain.step(4).loss);
    beside.parts.runner.flush_update();
    expect_same(beside.weights(), plain.weights());
  }
}

TEST(DeferredUpdate, IsTheSameOnSeveralRanks) {
  for (const bool shares_update : {false, true}) {
    const With options(Precision::bf16,
                       [&](TrainOptions& o) { o.shard_optimizer = shares_update; });
    testing::with_ranks(2, [&](ProcessGroup& group) {
      BlockRecipe recipe;
      recipe.words = many_words;
      testing::DelayingBackend backend;
      DeferringRank plain(recipe, options, group, cpu_backend()),
          beside(recipe, options, group, backend);
      for (int i = 0; i < 10; ++i) EXPECT_EQ(beside.step(4).loss, plain.step(4).loss);
      beside.parts.runner.flush_update();
      expect_same(beside.weights(), plain.weights());
      EXPECT_GT(backend.done, 0);
    });
  }
}

// What the ranks agreed on for a capture is forgotten with it.
TEST(DeferredUpdate, OfARecordingThatFailsLeavesNothingToTheOtherSteps) {
  const With options(Precision::bf16);
  testing::with_ranks(2, [&](ProcessGroup& group) {
    BlockRecipe recipe;
    recipe.words = many_words;
    testing::DelayingBackend backend;
    backend.fails = group.rank() == 1;
    DeferringRank plain(recipe, options, group, cpu_backend()),
        beside(recipe, options, group, backend);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(beside.step(4).loss, plain.step(4).loss);
    expect_same(beside.weights(), plain.weights());
    EXPECT_EQ(backend.replayed, 0);
  });
}

// A block is seen twice, once with weights that are no numbers.
TEST(DeferredUpdate, AsksTheForwardPassTwiceBeforeACapture) {
  BlockRecipe recipe;
  ProcessGroup group{World{}, cpu_backend()};
  testing::DelayingBackend backend;
  const With options(Precision::fp32);
  DeferringRank rank(recipe, options, group, backend);
  for (int i = 0; i < 3; ++i) rank.step(4);
  EXPECT_EQ(recipe.forwards, 6);
  rank.step(4);
  EXPECT_EQ(recipe.forwards, 10);
}

}  // namespace
}  // namespace lockstep
