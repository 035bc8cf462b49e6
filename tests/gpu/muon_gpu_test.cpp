// Muon on a GPU: near the CPU's, nothing changed by a skipped step, and the same in a CUDA graph.
#include "fakes/muon_cases.h"
#include "gpu/gpu_fixture.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>

#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace lockstep {
namespace {

using MuonGpuTest = GpuTest;

// Several matrices of each shape, of sizes that the library's products like.
class LayersModel : public Model {
 public:
  LayersModel() {
    for (const auto& [name, rows, columns] :
         {std::tuple("a", 128, 64), {"b", 64, 128}, {"c", 96, 96}})
      for (int i = 0; i < 3; ++i) {
        const auto number = static_cast<std::int64_t>(all_.size());
        at::Tensor made = testing::sawtooth({rows, columns}, 37, 5 * number, 8191, 8192);
        all_.push_back({.name = name + std::to_string(i), .tensor = made.requires_grad_(true)});
      }
    all_.front().use = ParameterUse::embedding;
  }
  std::vector<Parameter> parameters() override { return all_; }

 private:
  std::vector<Parameter> all_;
};

template <class Matrices>
struct RigOf {
  testing::MuonOptions options;
  Matrices model;
  ParameterStorage storage;
  GradientBuffers gradients;
  Optimizer optimizer;

  RigOf(at::Device device, const testing::MuonCase& one, at::ScalarType dtype = at::kFloat)
      : options(one),
        storage((options.precision = dtype == at::kFloat ? Precision::fp32 : Precision::fp16,
                 model.parameters()),
                device, dtype),
        gradients(storage),
        optimizer(options, gradients) {}

  void step(std::int64_t number, double scale = 1) {
    testing::take_made_step(storage, gradients, optimizer, number, scale);
  }
  at::Tensor weights(std::size_t i) const { return storage.view(storage.master(), i).cpu(); }
};
using MuonRig = RigOf<testing::MatricesModel>;
using LayersRig = RigOf<LayersModel>;

// "tall" and "wide" of the model. The gradients of its other matrices are singular: rounding alone
// decides what the iteration makes of a singular value of 0.
constexpr std::size_t regular[] = {2, 4};

TEST_F(MuonGpuTest, MovesMatricesAsTheCpuDoes) {
  for (const testing::MuonCase& one : testing::muon_cases) {
    MuonRig there(gpu().device(), one), here(at::kCPU, one), before(at::kCPU, one);
    for (std::int64_t step = 0; step < 3; ++step) {
      there.step(step);
      here.step(step);
    }
    for (const std::size_t i : regular) {
      const double moved = (here.weights(i) - before.weights(i)).norm().item<double>();
      const double apart = (there.weights(i) - here.weights(i)).norm().item<double>();
      EXPECT_LE(apart, 0.02 * moved) << there.storage.parameters()[i].name;
    }
  }
}

// Gradients of full rank: pseudo-random bits, the same on both devices.
void take_random_step(LayersRig& rig, std::int64_t step) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < rig.storage.parameters().size(); ++i) {
    const at::Tensor gradient = rig.storage.view(rig.gradients.flat(), i);
    at::Tensor numbers = at::arange(gradient.numel(), at::kDouble).add(1e4 * (step + 1) + 97.0 * i);
    numbers = numbers.mul(12.9898).sin().mul(43758.5453);
    gradient.copy_((numbers - numbers.floor() - 0.5).view(gradient.sizes()));
  }
  rig.optimizer.step(1.0 / 64);
}

TEST_F(MuonGpuTest, MovesManyMatricesOfAShapeAsTheCpuDoes) {
  for (const testing::MuonCase& one : testing::muon_cases) {
    LayersRig there(gpu().device(), one), here(at::kCPU, one);
    for (std::int64_t step = 0; step < 3; ++step) {
      std::vector<at::Tensor> before;
      for (std::size_t i = 0; i < 9; ++i) before.push_back(here.weights(i).clone());
      take_random_step(there, step);
      take_random_step(here, step);
      for (std::size_t i = 1; i < 9; ++i) {
        const double moved = (here.weights(i) - before[i]).norm().item<double>();
        const double apart = (there.weights(i) - here.weights(i)).norm().item<double>();
        EXPECT_LE(apart, 0.02 * (static_cast<double>(step) + 1) * moved)
            << here.storage.parameters()[i].name << ", step " << step;
      }
    }
  }
}

TEST_F(MuonGpuTest, ASkippedStepChangesNothing) {
  MuonRig rig(gpu().device(), {}, at::kHalf);
  rig.step(0);
  const at::Tensor master = rig.storage.master().clone(), working = rig.storage.weights().clone();
  auto before = rig.optimizer.flat_state();
  for (auto& [name, flat] : before) flat = flat.clone();
  rig.step(1, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(rig.storage.master().equal(master));
  EXPECT_TRUE(rig.storage.weights().equal(working));
  for (const auto& [name, flat] : rig.optimizer.flat_state())
    EXPECT_TRUE(flat.equal(before.at(name))) << name;
}

TEST_F(MuonGpuTest, IsTheSameInAGraph) {
  MuonRig eager(gpu().device(), {}), captured(gpu().device(), {});
  const at::Tensor lr = at::full({}, 1.0 / 64, eager.storage.master().options());
  for (MuonRig* rig : {&eager, &captured}) rig->step(0);  // leaves its gradients
  const auto graph = gpu().capture([&] { captured.optimizer.step(lr); });
  ASSERT_NE(graph, nullptr);
  for (int i = 0; i < 3; ++i) {
    eager.optimizer.step(lr);
    graph->replay();
  }
  gpu().synchronize();
  EXPECT_TRUE(captured.storage.master().equal(eager.storage.master()));
  for (const auto& [name, flat] : captured.optimizer.flat_state())
    EXPECT_TRUE(flat.equal(eager.optimizer.flat_state().at(name))) << name;
}

}  // namespace
}  // namespace lockstep
