// The update against the published formulas, step by step in double.
#include "training/update/optimizer.h"

#include "fakes/toy_recipe.h"

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>

#include <cmath>
#include <limits>

namespace lockstep {
namespace {

struct Fixture {
  struct Changed : TrainOptions {
    explicit Changed(const std::function<void(TrainOptions&)>& change) {
      precision = Precision::fp32;
      if (change) change(*this);
    }
  };
  Changed options;
  testing::ToyModel model{3};
  ParameterStorage storage;
  GradientBuffers gradients;
  Optimizer optimizer;

  explicit Fixture(const std::function<void(TrainOptions&)>& change = {})
      : options(change),
        storage(model.parameters(), at::kCPU,
                options.precision == Precision::fp32 ? at::kFloat : at::kHalf),
        gradients(storage),
        optimizer(options, gradients) {}

  void set_gradient(double value) {
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < storage.parameters().size(); ++i)
      storage.view(gradients.flat(), i).fill_(value);
  }
};

TEST(AdamW, FollowsLoshchilovAndHutter) {
  Fixture f([](TrainOptions& o) {
    o.optimizer.clip = 0;
    o.optimizer.weight_decay = 0.1;
  });
  const double w0 = f.model.first[0][0].item<double>(), b0 = f.model.bias[0].item<double>();
  double w = w0, b = b0, m = 0, v = 0;
  for (int step = 1; step <= 5; ++step) {
    const double g = 0.1 * step;
    f.set_gradient(g);
    f.optimizer.step(0.01);
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    const double update =
        m / (1 - std::pow(0.9, step)) / (std::sqrt(v / (1 - std::pow(0.999, step))) + 1e-8);
    w = w * (1 - 0.01 * 0.1) - 0.01 * update;
    b = b - 0.01 * update;  // biases do not decay
  }
  EXPECT_NEAR(f.model.first[0][0].item<double>(), w, 1e-6);
  EXPECT_NEAR(f.model.bias[0].item<double>(), b, 1e-6);
}

TEST(Sgd, FollowsMomentum) {
  Fixture f([](TrainOptions& o) {
    o.optimizer.kind = OptimizerKind::sgd;
    o.optimizer.clip = 0;
    o.optimizer.weight_decay = 0;
  });
  double w = f.model.first[0][0].item<double>(), m = 0;
  for (int step = 1; step <= 4; ++step) {
    f.set_gradient(0.5);
    f.optimizer.step(0.1);
    m = 0.9 * m + 0.5;
    w -= 0.1 * m;
  }
  EXPECT_NEAR(f.model.first[0][0].item<double>(), w, 1e-6);
}

TEST(Optimizer, ClipsTheNormOfTheWholeGradient) {
  Fixture f([](TrainOptions& o) {
    o.optimizer.kind = OptimizerKind::sgd;
    o.optimizer.momentum = 0;
    o.optimizer.weight_decay = 0;
    o.optimizer.clip = 1;
  });
  const at::Tensor before = f.storage.master().clone();
  f.set_gradient(3);
  f.optimizer.step(1);
  EXPECT_NEAR((before - f.storage.master()).norm().item<double>(), 1, 1e-5);
  EXPECT_NEAR(f.optimizer.gradient_norm().item<double>(),
              3 * std::sqrt(16 * 5 + 16 + 3 * 16 + 3 + 7), 1e-3);
}

TEST(Optimizer, LeavesASmallGradientUnclipped) {
  Fixture f([](TrainOptions& o) {
    o.optimizer.kind = OptimizerKind::sgd;
    o.optimizer.momentum = 0;
    o.optimizer.weight_decay = 0;
  });
  const double before = f.model.first[0][0].item<double>();
  f.set_gradient(1e-3);
  f.optimizer.step(1);
  EXPECT_NEAR(before - f.model.first[0][0].item<double>(), 1e-3, 1e-6);
}

TEST(Optimizer, SkipsAStepWhoseGradientIsNotFinite) {
  for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    Fixture f;
    f.set_gradient(0.1);
    f.optimizer.step(0.01);
    const at::Tensor before = f.storage.master().clone();
    f.set_gradient(bad);
    f.optimizer.step(0.01);
    EXPECT_TRUE(at::allclose(before, f.storage.master(), 0, 0));
    EXPECT_EQ(f.optimizer.scalar_state().at("step").item<double>(), 1);
    EXPECT_FALSE(std::isfinite(f.optimizer.gradient_norm().item<double>()));
  }
}

TEST(LossScale, HalvesOnOverflowAndDoublesAfterManyGoodSteps) {
  Fixture f([](TrainOptions& o) { o.precision = Precision::fp16; });
  EXPECT_EQ(f.optimizer.loss_scale().item<double>(), 65536);
  f.set_gradient(std::numeric_limits<double>::infinity());
  f.optimizer.step(0.01);
  EXPECT_EQ(f.optimizer.loss_scale().item<double>(), 32768);
  for (int i = 0; i < 2000; ++i) {
    f.set_gradient(1);
    f.optimizer.step(0);
  }
  EXPECT_EQ(f.optimizer.loss_scale().item<double>(), 65536);
}

// With on_nan=skip many such steps may follow each other; then it must be able to grow again.
TEST(LossScale, DoesNotFallBelowOne) {
  Fixture f([](TrainOptions& o) { o.precision = Precision::fp16; });
  for (int i = 0; i < 40; ++i) {
    f.set_gradient(std::numeric_limits<double>::infinity());
    f.optimizer.step(0.01);
  }
  EXPECT_EQ(f.optimizer.loss_scale().item<double>(), 1);
  for (int i = 0; i < 2000; ++i) {
    f.set_gradient(1);
    f.optimizer.step(0);
  }
  EXPECT_EQ(f.optimizer.loss_scale().item<double>(), 2);
}

TEST(LossScale, OfAnotherPrecisionIsNotGoneOnWith) {
  Fixture f([](TrainOptions& o) { o.precision = Precision::fp16; });
  f.optimizer.scalar_state().at("loss_scale").fill_(1);  // a checkpoint of bf16
  f.optimizer.restart_loss_scale();
  EXPECT_EQ(f.optimizer.loss_scale().item<double>(), 65536);
  Fixture plain([](TrainOptions& o) { o.precision = Precision::fp32; });
  plain.optimizer.scalar_state().at("loss_scale").fill_(65536);
  plain.optimizer.restart_loss_scale();
  EXPECT_EQ(plain.optimizer.loss_scale().item<double>(), 1);
}

TEST(LossScale, DoesNotChangeTheUpdate) {
  Fixture scaled([](TrainOptions& o) {
    o.precision = Precision::fp16;
    o.optimizer.clip = 0;
  });
  Fixture plain([](TrainOptions& o) { o.optimizer.clip = 0; });
  scaled.set_gradient(0.01 * 65536);
  plain.set_gradient(0.01);
  scaled.optimizer.step(0.1);
  plain.optimizer.step(0.1);
  EXPECT_TRUE(at::allclose(scaled.storage.master(), plain.storage.master(), 1e-5, 1e-7));
}

TEST(WorkingCopy, FollowsTheMasterWeights) {
  Fixture f([](TrainOptions& o) { o.precision = Precision::fp16; });
  f.set_gradient(100);
  f.optimizer.step(0.1);
  for (std::size_t i = 0; i < f.storage.parameters().size(); ++i) {
    const at::Tensor& working = f.storage.parameters()[i].tensor;
    EXPECT_EQ(working.scalar_type(), at::kHalf);
    EXPECT_TRUE(at::allclose(working, f.storage.view(f.storage.master(), i).to(at::kHalf), 0, 0));
  }
}

TEST(WeightAverage, FollowsItsFormulaAndCountsFewUpdatesFully) {
  Fixture f([](TrainOptions& o) { o.ema.decay = 0.7; });
  const WeightAverage& average = *f.optimizer.average();
  double expected = f.model.first[0][0].item<double>();
  for (int n = 1; n <= 40; ++n) {
    f.set_gradient(std::sin(n));
    f.optimizer.step(0.05);
    const double kept = std::min(0.7, (1.0 + n) / (10.0 + n));
    expected = kept * expected + (1 - kept) * f.model.first[0][0].item<double>();
    EXPECT_NEAR(f.storage.view(average.flat(), 0)[0][0].item<double>(), expected, 1e-5) << n;
  }
  EXPECT_NE(f.storage.view(average.flat(), 0)[0][0].item<float>(),
            f.model.first[0][0].item<float>());
}

TEST(WeightAverage, IsLeftAloneByASkippedStep) {
  Fixture f([](TrainOptions& o) { o.ema.decay = 0.9; });
  f.set_gradient(0.1);
  f.optimizer.step(0.01);
  const at::Tensor before = f.optimizer.average()->flat().clone();
  f.set_gradient(std::nan(""));
  f.optimizer.step(0.01);
  EXPECT_TRUE(f.optimizer.average()->flat().equal(before));
}

TEST(WeightAverage, IsOffUnlessAskedFor) { EXPECT_EQ(Fixture().optimizer.average(), nullptr); }

TEST(WeightAverage, StandsInForTheWeightsWhileShown) {
  for (const Precision precision : {Precision::fp32, Precision::fp16}) {
    Fixture f([&](TrainOptions& o) {
      o.precision = precision;
      o.ema.decay = 0.9;
    });
    f.set_gradient(100);
    for (int i = 0; i < 3; ++i) f.optimizer.step(0.1);
    const at::Tensor weights = f.model.first.clone();
    const at::Tensor average =
        f.storage.view(f.optimizer.average()->flat(), 0).to(weights.scalar_type());
    {
      ShownAverage shown(f.optimizer.average());
      EXPECT_TRUE(f.model.first.equal(average));
      EXPECT_FALSE(f.model.first.equal(weights));
      shown.end();
    }
    EXPECT_TRUE(f.model.first.equal(weights));
    f.optimizer.step(0.1);
    EXPECT_FALSE(f.model.first.equal(weights));  // the model reads its own weights again
  }
}

}  // namespace
}  // namespace lockstep
