// Muon on a GPU: near the CPU's, nothing changed by a skipped step, and the same in a CUDA graph.
#include "fakes/muon_cases.h"
#include "gpu/gpu_fixture.h"

#include <ATen/ops/full.h>

#include <limits>

namespace lockstep {
namespace {

using MuonGpuTest = GpuTest;

struct MuonRig {
  testing::MuonOptions options;
  testing::MatricesModel model;
  ParameterStorage storage;
  GradientBuffers gradients;
  Optimizer optimizer;

  MuonRig(at::Device device, const testing::MuonCase& one, at::ScalarType dtype = at::kFloat)
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
