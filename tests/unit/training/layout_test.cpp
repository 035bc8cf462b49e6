// Channels-last weights and inputs keep their layout, and everything else stays as it is.
#include "backends/layout.h"

#include "core/base/files/files.h"
#include "fakes/forwarding_backend.h"
#include "fakes/rank_parts.h"
#include "fakes/thread_ranks.h"
#include "training/checkpoint/snapshot.h"
#include "training/checkpoint/tensor_file.h"

#include <gtest/gtest.h>

#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linspace.h>

namespace lockstep {
namespace {

TEST(Layout, OfDenseTensorsIsKeptAndOthersBecomeContiguous) {
  const at::Tensor image = at::arange(24).view({1, 2, 3, 4});
  const at::Tensor last = image.contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_EQ(dense_strides(last), last.strides().vec());
  EXPECT_EQ(dense_strides(image.narrow(3, 0, 2)), (std::vector<std::int64_t>{12, 6, 2, 1}));
  EXPECT_TRUE(view_as(memory_order(last), last.sizes(), last.strides()).equal(image));
  EXPECT_TRUE(memory_order(last).is_alias_of(last));
  EXPECT_EQ(memory_order(image.narrow(3, 0, 2)).numel(), 12);
}

// One whose host memory is another than the tensors'.
class PinningBackend : public testing::ForwardingBackend {
 public:
  at::Device device() const override { return {at::kCUDA, 0}; }
  at::Tensor host_empty(at::IntArrayRef sizes, at::ScalarType dtype) override {
    return last = at::empty(sizes, dtype);
  }

  at::Tensor last;
};

TEST(Layout, OfAPinnedCopyIsThatOfTheTensor) {
  PinningBackend backend;
  const at::Tensor image =
      at::arange(24).view({1, 2, 3, 4}).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor copy = pinned_copy(backend, image);
  EXPECT_TRUE(copy.equal(image));
  EXPECT_EQ(copy.strides(), image.strides());
  EXPECT_TRUE(copy.is_alias_of(backend.last));
  EXPECT_TRUE(pinned_copy(cpu_backend(), image).is_same(image));
}

// Two convolutions over small images; the first weight is channels-last where that is asked for.
class ConvModel : public Model {
 public:
  explicit ConvModel(bool channels_last) {
    const auto fresh = [](std::vector<std::int64_t> sizes) {
      std::int64_t elements = 1;
      for (const std::int64_t size : sizes) elements *= size;
      return at::linspace(-0.4, 0.5, elements).view(sizes);
    };
    first = fresh({8, 3, 3, 3});
    if (channels_last) first = first.contiguous(at::MemoryFormat::ChannelsLast);
    first.set_requires_grad(true);
    second = fresh({2, 8, 1, 1}).set_requires_grad(true);
  }
  std::vector<Parameter> parameters() override {
    return {{"first.weight", first}, {"second.weight", second}};
  }
  at::Tensor first, second;
};

class Images : public Dataset {
 public:
  explicit Images(bool channels_last) : channels_last_(channels_last) {}
  std::int64_t size() const override { return 24; }
  std::vector<at::Tensor> get(std::int64_t i, SampleContext&) const override {
    const at::Tensor image = at::linspace(-1, 1.0 + static_cast<double>(i) / 9, 75).sin();
    return {channels_last_ ? image.view({5, 5, 3}).permute({2, 0, 1})
                           : image.view({5, 5, 3}).permute({2, 0, 1}).contiguous()};
  }

 private:
  bool channels_last_;
};

class ConvRecipe : public Recipe {
 public:
  explicit ConvRecipe(bool channels_last) : channels_last_(channels_last) {}
  std::unique_ptr<Model> build(std::uint64_t) override {
    return std::make_unique<ConvModel>(channels_last_);
  }
  DatasetPair data() override { return {std::make_shared<Images>(channels_last_), nullptr}; }
  std::vector<double> loss_weights(const Batch& batch) const override {
    return {static_cast<double>(batch.size())};
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    auto& net = dynamic_cast<ConvModel&>(model);
    const at::Tensor x = batch.tensors[0].to(context.compute_dtype);
    EXPECT_EQ(x.is_contiguous(at::MemoryFormat::ChannelsLast), channels_last_);
    const at::Tensor hidden = at::conv2d(x, net.first).tanh();
    return {at::conv2d(hidden, net.second).to(at::kFloat).square().sum()};
  }
  at::Tensor evaluate(Model&, const Batch&, StepContext&) override { return {}; }
  std::vector<Metric> metrics(const Records&) const override { return {}; }

 private:
  bool channels_last_;
};

struct LaidOut {
  std::vector<at::Tensor> weights, moments;
  bool kept_layout = false;
};

LaidOut train_convolutions(bool channels_last, Precision precision, int ranks, bool shared,
                           const std::filesystem::path& folder = {}) {
  LaidOut result;
  testing::with_ranks(ranks, [&](ProcessGroup& group) {
    TrainOptions options;
    options.precision = precision;
    ConvRecipe recipe(channels_last);
    options.shard_optimizer = shared;
    const std::vector<std::int64_t> strides =
        recipe.build(1)->parameters()[0].tensor.strides().vec();
    testing::LoadingRank rank(
        options, recipe, group, cpu_backend(),
        {.world_size = ranks, .micro = 12 / ranks, .accumulation = 1, .global = 12}, /*steps=*/4);
    ParameterStorage& storage = rank.storage;
    Optimizer& optimizer = rank.optimizer;
    while (!rank.loader.done()) rank.step();
    if (!folder.empty() && group.rank() == 0) {
      CheckpointSaver saver(folder, {}, cpu_backend(), [](const CheckpointSaver::Result&) {});
      saver.save({storage, &optimizer, {}}, 4, {{"step", 4}}, nullptr);
      EXPECT_EQ(saver.finish(), "");
    } else if (!folder.empty()) {
      give_shards({storage, &optimizer, {}}, cpu_backend());
    }
    if (group.rank() != 0) return;
    const at::Tensor first = storage.parameters()[0].tensor.detach();
    result.kept_layout = first.strides().vec() == strides;
    if (precision == Precision::fp32) {
      const at::Tensor gradient = storage.parameters()[0].tensor.grad();
      result.kept_layout = result.kept_layout && gradient.strides().vec() == strides;
    }
    for (const Parameter& parameter : storage.parameters())
      result.weights.push_back(parameter.tensor.detach().clone().contiguous());
  });
  return result;
}

TEST(Layout, OfChannelsLastWeightsIsKeptAndTheResultIsThatOfContiguousOnes) {
  for (const Precision precision : {Precision::fp32, Precision::bf16})
    for (const int ranks : {1, 2})
      for (const bool shared : {false, true}) {
        const LaidOut plain = train_convolutions(false, precision, ranks, shared);
        const LaidOut last = train_convolutions(true, precision, ranks, shared);
        EXPECT_TRUE(last.kept_layout);
        EXPECT_TRUE(plain.kept_layout);
        const double tolerance = precision == Precision::fp32 ? 1e-5 : 2e-2;
        for (std::size_t i = 0; i < plain.weights.size(); ++i)
          EXPECT_TRUE(at::allclose(plain.weights[i], last.weights[i], tolerance, tolerance)) << i;
      }
}

TEST(Layout, ACheckpointHoldsTheOrderOfTheShapeAndComesBackIntoEitherLayout) {
  for (const bool shared : {false, true}) {
    const TemporaryDirectory folder;
    const int ranks = shared ? 2 : 1;
    const LaidOut last = train_convolutions(true, Precision::fp32, ranks, shared, folder.path());
    const CheckpointInfo saved = *newest_good(folder.path());
    const auto file = map_tensors(saved.path / "model.safetensors");
    EXPECT_TRUE(file.at("first.weight").equal(last.weights[0]));
    const auto moments = map_tensors(saved.path / "optimizer.safetensors");
    for (const bool channels_last : {false, true}) {
      testing::with_ranks(ranks, [&](ProcessGroup& group) {
        ConvModel model(channels_last);
        const TrainOptions options;
        ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat,
                                 shared ? &group : nullptr);
        GradientBuffers gradients(storage);
        Optimizer optimizer(options, gradients);
        restore(saved, {storage, &optimizer, {}});
        EXPECT_TRUE(model.first.equal(last.weights[0]));
        if (shared) return;
        const at::Tensor moment = storage.view(optimizer.flat_state().at("exp_avg"), 0);
        EXPECT_TRUE(moment.equal(moments.at("exp_avg.first.weight")));
      });
    }
  }
}

}  // namespace
}  // namespace lockstep
