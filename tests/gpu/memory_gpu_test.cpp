// A GPU that is nearly full: whatever runs out, a step is dropped and none ends the run.
#include "gpu/gpu_fixture.h"
#include "gpu/step_rig.h"
#include "training/recipe/recipe.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace lockstep {
namespace {

constexpr std::int64_t mebi = 1 << 20;

class Convolutions : public Model {
 public:
  std::vector<Parameter> parameters() override { return {{"first", first}, {"second", second}}; }
  at::Tensor first = (at::randn({24, 8, 3, 3, 3}) * 0.1).set_requires_grad(true);
  at::Tensor second = (at::randn({24, 24, 5, 5, 5}) * 0.02).set_requires_grad(true);
};

// Two 3D convolutions, whose engines want workspaces besides.
class ConvolutionRecipe : public Recipe {
 public:
  std::unique_ptr<Model> build(std::uint64_t /*seed*/) override {
    return std::make_unique<Convolutions>();
  }
  DatasetPair data() override { return {}; }
  std::vector<std::string> terms() const override { return {"squares"}; }
  std::vector<double> loss_weights(const Batch& batch) const override {
    return {static_cast<double>(batch.size())};
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& /*own*/) override {
    auto& net = dynamic_cast<Convolutions&>(model);
    const at::Tensor hidden = at::conv3d(batch.tensors[0], net.first, {}, 1, 1).relu();
    return {at::conv3d(hidden, net.second, {}, 1, 2).square().mean({1, 2, 3, 4}).sum()};
  }
  at::Tensor evaluate(Model& /*model*/, const Batch& batch, StepContext& /*context*/) override {
    return batch.row_weight.unsqueeze(1);
  }
  std::vector<Metric> metrics(const Records& /*records*/) const override { return {}; }
  void predict(Model& /*model*/, const PredictRequest& /*request*/) override {}
};

// All memory of the GPU but about `room_bytes`.
std::vector<at::Tensor> fill_but(Backend& gpu, std::int64_t room_bytes) {
  gpu.synchronize();
  gpu.release_cached_memory();
  const auto options = at::TensorOptions().dtype(at::kByte).device(gpu.device());
  std::vector<at::Tensor> held;
  const at::Tensor room = at::empty({room_bytes}, options);
  for (std::int64_t piece = 8192 * mebi; piece >= 32 * mebi; piece /= 4) try {
      while (true) held.push_back(at::empty({piece}, options));
    } catch (const c10::OutOfMemoryError&) {
    }
  return held;
}

class ScarceMemory : public GpuTest {};

TEST_F(ScarceMemory, AConvolutionThatFindsNoRoomDropsItsStepAndSmallerMicroBatchesGoOn) {
  ConvolutionRecipe recipe;
  testing::StepRig rig(recipe, gpu(), GraphMode::off);
  const std::int64_t rows = 16;
  std::vector<std::vector<at::Tensor>> whole{{at::randn({rows, 8, 32, 48, 48})}}, single;
  for (std::int64_t row = 0; row < rows; ++row)
    single.push_back({whole[0][0].narrow(0, row, 1).contiguous()});
  EXPECT_FALSE(rig.step(whole).dropped);
  EXPECT_FALSE(rig.step(single).dropped);
  int dropped = 0, done = 0;
  for (std::int64_t room = 1536; room >= 96; room = room * 4 / 5) {
    const std::vector<at::Tensor> held = fill_but(gpu(), room * mebi);
    gpu().release_cached_memory();
    const StepResult result = rig.step(whole);
    if (!result.dropped) {
      ++done;
      continue;
    }
    ++dropped;
    EXPECT_FALSE(rig.runner().out_of_memory_text().empty());
    RecordProperty("room_" + std::to_string(room), rig.runner().out_of_memory_text());
    rig.runner().reset_after_drop();
    if (room < 512) continue;
    const StepResult smaller = rig.step(single);
    EXPECT_FALSE(smaller.dropped) << room << " MiB: " << rig.runner().out_of_memory_text();
    EXPECT_TRUE(std::isfinite(smaller.loss));
    if (smaller.dropped) rig.runner().reset_after_drop();
  }
  RecordProperty("done", done);
  EXPECT_GE(dropped, 1);
  gpu().release_cached_memory();
  EXPECT_FALSE(rig.step(whole).dropped);
}

// No engine has a form for it however much memory there is: that is no lack of memory.
TEST_F(ScarceMemory, IsNotTheReasonWhereMemoryIsPlenty) {
  class FindsNoEngine : public ConvolutionRecipe {
   public:
    std::vector<at::Tensor> loss(Model&, const Batch&, StepContext&) override {
      TORCH_CHECK(false, "GET was unable to find an engine to execute this computation");
    }
  };
  FindsNoEngine recipe;
  gpu().release_cached_memory();
  testing::StepRig rig(recipe, gpu(), GraphMode::off);
  // The first may be taken for the lack of memory that another test had.
  const std::vector<std::vector<at::Tensor>> micro{{at::randn({1, 8, 4, 4, 4})}};
  EXPECT_THROW(
      {
        rig.step(micro);
        rig.runner().reset_after_drop();
        rig.step(micro);
      },
      c10::Error);
}

}  // namespace
}  // namespace lockstep
