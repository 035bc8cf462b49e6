// Muon against torch.optim.Muon, by a recording; what it leaves to AdamW; steps that are skipped.
#include "checkout_paths.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "fakes/error_of.h"
#include "fakes/muon_cases.h"
#include "fakes/toy_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ATen/ops/allclose.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <limits>

namespace lockstep {
namespace {

using testing::MatricesModel;
using testing::MuonOptions;
using testing::take_made_step;

struct MuonRig {
  MuonOptions options;
  MatricesModel model;
  ParameterStorage storage;
  GradientBuffers gradients;
  Optimizer optimizer;

  explicit MuonRig(
      const std::function<void(TrainOptions&)>& change = [](TrainOptions&) {}, bool halves = false)
      : storage((change(options), model.parameters()), at::kCPU, halves ? at::kHalf : at::kFloat),
        gradients(storage),
        optimizer(options, gradients) {}

  void step(std::int64_t number, double scale = 1) {
    take_made_step(storage, gradients, optimizer, number, scale);
  }
  std::size_t number_of(const std::string& name) const {
    for (std::size_t i = 0; i < storage.parameters().size(); ++i)
      if (storage.parameters()[i].name == name) return i;
    throw std::runtime_error("no parameter " + name);
  }
  at::Tensor weights_of(const std::string& name) const {
    return storage.view(storage.master(), number_of(name));
  }
};

// The floats that these bits are.
at::Tensor floats_of_bits(const nlohmann::json& bits) {
  const auto values = bits.get<std::vector<std::int32_t>>();
  return at::tensor(values, at::kInt).view(at::kFloat).clone();
}

// tests/process/python/muon_test.py made the recording, and compares live. On another processor
// than the recording's, products in bf16 are rounded otherwise.
TEST(Muon, HasTheBitsOfTorchOptimMuon) {
  const auto recording =
      nlohmann::json::parse(read_file(LOCKSTEP_SOURCE_DIR "/tests/unit/training/golden_muon.json"));
  const bool is_same_machine = recording.at("machine") == testing::machine_of_muon();
  ASSERT_EQ(recording.at("cases").size(), testing::muon_cases.size());
  for (std::size_t k = 0; k < testing::muon_cases.size(); ++k) {
    const nlohmann::json ours = testing::bits_of_muon(testing::muon_cases[k]);
    const nlohmann::json& theirs = recording.at("cases")[k];
    for (const char* what : {"weights", "momentum"}) {
      ASSERT_EQ(theirs.at(what).size(), 4U);
      for (const auto& [name, bits] : theirs.at(what).items()) {
        const at::Tensor a = floats_of_bits(ours.at(what).at(name)), b = floats_of_bits(bits);
        if (is_same_machine)
          EXPECT_TRUE(a.equal(b)) << "case " << k << " " << what << " of " << name;
        else
          EXPECT_TRUE(at::allclose(a, b, 0.02, 0.002)) << "case " << k << " " << name;
      }
    }
  }
}

TEST(Muon, KeepsMomentumOfMatricesAndMomentsOfTheRest) {
  const MuonRig rig;
  const auto flats = rig.optimizer.flat_state();
  ASSERT_EQ(flats.size(), 3U);
  const auto padded = [](std::int64_t size) { return (size + 63) / 64 * 64; };
  EXPECT_EQ(flats.at("momentum_buffer").numel(), 3 * padded(36) + padded(240));
  EXPECT_EQ(flats.at("exp_avg").numel(), padded(240) + padded(9) + padded(36) + padded(30));
  EXPECT_EQ(flats.at("exp_avg_sq").numel(), flats.at("exp_avg").numel());
}

// With AdamW's rate in place of the run's, and without a matrix in between.
TEST(Muon, LeavesTheRestToAdamWAtItsOwnRate) {
  MuonRig muon([](TrainOptions& o) {
    o.optimizer.lr = 1.0 / 64;
    o.optimizer.adamw_lr = 1.0 / 256;
  });
  MuonRig adamw([](TrainOptions& o) { o.optimizer.kind = OptimizerKind::adamw; });
  muon.step(0);
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < adamw.storage.parameters().size(); ++i)
    adamw.storage.view(adamw.gradients.flat(), i)
        .copy_(testing::made_gradient(adamw.storage.parameters()[i].tensor.sizes(), 0, i));
  adamw.optimizer.step(1.0 / 256);
  for (const char* name : {"words", "bias", "filter", "head"})
    EXPECT_TRUE(at::allclose(muon.weights_of(name), adamw.weights_of(name), 1e-6, 1e-8)) << name;
  EXPECT_FALSE(at::allclose(muon.weights_of("tall"), adamw.weights_of("tall"), 1e-3, 1e-4));
}

TEST(Muon, ASkippedStepChangesNothing) {
  MuonRig rig([](TrainOptions& o) { o.precision = Precision::fp16; }, /*halves=*/true);
  rig.step(0);
  const at::Tensor master = rig.storage.master().clone();
  const at::Tensor working = rig.storage.weights().clone();
  auto before = rig.optimizer.flat_state();
  for (auto& [name, flat] : before) flat = flat.clone();
  for (const double bad :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    rig.step(1, bad);
    EXPECT_TRUE(rig.storage.master().equal(master));
    EXPECT_TRUE(rig.storage.weights().equal(working));
    for (const auto& [name, flat] : rig.optimizer.flat_state())
      EXPECT_TRUE(flat.equal(before.at(name))) << name;
  }
  rig.step(2);
  EXPECT_FALSE(rig.storage.master().equal(master));
}

// A gradient of 65,536 times its size is divided in fp32, so nothing is lost.
TEST(Muon, TakesTheLossScaleOffBeforeItRounds) {
  MuonRig scaled([](TrainOptions&o) { o.precision = Precision::fp16; }, /*halves=*/true), plain;
  for (std::int64_t step = 0; step < 3; ++step) {
    scaled.step(step, scaled.optimizer.loss_scale().item<double>());
    plain.step(step);
  }
  for (const char* name : {"square", "tall", "wide", "larger"}) {
    EXPECT_TRUE(scaled.weights_of(name).equal(plain.weights_of(name))) << name;
    const at::Tensor working = scaled.storage.view(scaled.storage.weights(), 1);
    EXPECT_TRUE(working.equal(scaled.weights_of("square").to(at::kHalf)));
  }
}

TEST(Muon, AZeroGradientOnlyDecays) {
  MuonRig rig;
  const at::Tensor before = rig.weights_of("tall").clone();
  rig.gradients.flat().zero_();
  rig.optimizer.step(1.0 / 64);
  EXPECT_TRUE(at::allclose(rig.weights_of("tall"), before.mul(1 - 0.1 / 64), 1e-6, 1e-8));
}

// The update's singular values lie near 1, whatever the gradient's size; A rows, B columns.
TEST(Muon, MovesAMatrixByTheRateWhateverTheGradient) {
  for (const double scale : {1e-3, 1.0, 1e3}) {
    MuonRig rig([](TrainOptions& o) { o.optimizer.weight_decay = 0; });
    const at::Tensor before = rig.weights_of("larger").clone();
    rig.step(0, scale);
    const at::Tensor moved = rig.weights_of("larger") - before;
    const double rms = moved.norm().item<double>() / std::sqrt(240.0);
    EXPECT_NEAR(rms / (0.2 / 64), 1, 0.4) << scale;
  }
}

TEST(Muon, IsRefusedForAModelWithoutSuchMatrices) {
  testing::ToyModel toy(1);  // its first and last matrices count as embedding and head
  ParameterStorage storage(toy.parameters(), at::kCPU, at::kFloat);
  GradientBuffers gradients(storage);
  const MuonOptions options;
  EXPECT_THAT(error_of([&] { Optimizer(options, gradients); }),
              ::testing::HasSubstr("the model trains none"));
}

}  // namespace
}  // namespace lockstep
