// A parameter's gradient buffer: its states, and that a call out of order ends the process.
#include "ops/gradient_buffer/gradient_registry.h"

#include "fakes/delayed_work.h"

#include <gtest/gtest.h>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace lockstep {
namespace {

constexpr GradientAbility overwrites{.overwrites = true};
constexpr GradientAbility rounds{.overwrites = true, .rounds = true};

// f32 [3, 2], whose content no step may see unless it is zero-filled.
struct GradientRig {
  at::Tensor f32 = at::full({3, 2}, NAN);
  GradientBuffer buffer{"layer.weight", f32};
  at::NoGradGuard no_grad;
  int done = 0;
  testing::DelayedWork side{done};

  void begin_stale(FirstGradient first = FirstGradient::overwrites) { buffer.begin_step(first); }
  void begin_filled() {
    f32.zero_();
    buffer.begin_step(FirstGradient::adds_to_zeros);
  }
  // A gradient of ones, by an operation that can write bf16 too.
  void give_ones() {
    const GradientTarget target = buffer.open(rounds, at::kBFloat16);
    if (target.overwrite) target.into.fill_(1);
    if (!target.overwrite) target.into.add_(1);
  }
  void whole_step() {
    begin_stale();
    give_ones();
    buffer.set_reduced();
  }
  bool holds(double value) const { return f32.eq(value).all().item<bool>(); }
  GradientState state() const { return buffer.state(); }
};

TEST(GradientBuffer, IsFoundUntilForgotten) {
  const at::Tensor parameter = at::zeros({2}).requires_grad_();
  EXPECT_EQ(gradient_buffer_of(parameter), nullptr);
  const at::Tensor buffer = at::zeros({2});
  set_gradient_buffer(parameter, buffer);
  EXPECT_TRUE(gradient_buffer_of(parameter)->f32().is_same(buffer));
  forget_gradient_buffer(parameter);
  EXPECT_EQ(gradient_buffer_of(parameter), nullptr);
}

TEST(GradientBuffer, IsFoundWithOtherStridesOnlyByThoseThatHandleThem) {
  const at::Tensor parameter = at::zeros({2, 3}).requires_grad_();
  set_gradient_buffer(parameter, at::zeros({3, 2}).t());
  EXPECT_EQ(gradient_buffer_of(parameter), nullptr);
  EXPECT_NE(gradient_buffer_of(parameter, /*any_strides=*/true), nullptr);
  forget_gradient_buffer(parameter);
}

TEST(GradientBuffer, GoesFromEmptyToAccumulatedToReduced) {
  GradientRig rig;
  EXPECT_EQ(rig.state(), GradientState::reduced);
  for (int step = 0; step < 2; ++step) {
    rig.begin_filled();
    EXPECT_EQ(rig.state(), GradientState::empty);
    rig.buffer.open({}, at::kFloat).into.add_(1);
    EXPECT_EQ(rig.state(), GradientState::accumulated);
    EXPECT_TRUE(rig.holds(1));
    rig.buffer.set_reduced();
    EXPECT_EQ(rig.state(), GradientState::reduced);
  }
}

TEST(GradientBuffer, LetsTheFirstGradientOverwriteWhatIsStale) {
  GradientRig rig;
  rig.begin_stale();
  EXPECT_TRUE(rig.buffer.is_stale());
  const GradientTarget first = rig.buffer.open(overwrites, at::kFloat);
  EXPECT_TRUE(first.overwrite);
  EXPECT_TRUE(first.into.is_same(rig.f32));
  EXPECT_FALSE(rig.buffer.open(overwrites, at::kFloat).overwrite);
  EXPECT_FALSE(rig.buffer.observed().needs_zeros);
  rig.buffer.set_reduced();
  rig.begin_filled();
  EXPECT_FALSE(rig.buffer.open(overwrites, at::kFloat).overwrite);
}

TEST(GradientBuffer, IsFilledWithZerosForAnOperationThatOnlyAdds) {
  GradientRig rig;
  rig.begin_stale();
  EXPECT_FALSE(rig.buffer.open({}, at::kFloat).overwrite);
  EXPECT_TRUE(rig.holds(0));
  EXPECT_TRUE(rig.buffer.observed().needs_zeros);
}

TEST(GradientBuffer, IsFilledWithZerosWhereNoGradientCame) {
  GradientRig rig;
  rig.begin_stale();
  rig.buffer.fill_if_empty();
  EXPECT_TRUE(rig.holds(0));
  EXPECT_TRUE(rig.buffer.observed().needs_zeros);
  rig.buffer.set_reduced();
  rig.begin_stale();
  rig.give_ones();
  rig.buffer.fill_if_empty();  // not then
  EXPECT_TRUE(rig.holds(1));
}

TEST(GradientBuffer, TakesARoundedGradientWhereThatIsPlanned) {
  GradientRig rig;
  const at::Tensor reduce = at::full({3, 2}, NAN, at::kBFloat16);
  rig.buffer.set_reduce_buffer(reduce);
  rig.begin_stale();
  EXPECT_FALSE(rig.buffer.would_round(at::kBFloat16));
  rig.give_ones();
  rig.buffer.set_reduced();
  rig.f32.fill_(NAN);
  rig.begin_stale(FirstGradient::overwrites_reduce_buffer);
  EXPECT_TRUE(rig.buffer.would_round(at::kBFloat16));
  EXPECT_FALSE(rig.buffer.would_round(at::kHalf));
  rig.give_ones();
  EXPECT_TRUE(rig.buffer.is_rounded());
  EXPECT_TRUE(reduce.eq(1).all().item<bool>());
  rig.give_ones();  // the plan was wrong
  EXPECT_FALSE(rig.buffer.is_rounded());
  EXPECT_TRUE(rig.holds(2));
  rig.buffer.set_reduced();
  rig.begin_stale(FirstGradient::overwrites_reduce_buffer);
  EXPECT_FALSE(rig.buffer.would_round(at::kBFloat16)) << "the plan was wrong once";
}

TEST(GradientBuffer, TellsWhatAStepShowed) {
  GradientRig rig;
  rig.begin_filled();
  EXPECT_TRUE(rig.buffer.observed().needs_zeros);  // as long as none came
  rig.give_ones();
  EXPECT_FALSE(rig.buffer.observed().needs_zeros);
  EXPECT_EQ(rig.buffer.observed().gradients, 1);
  rig.give_ones();
  EXPECT_EQ(rig.buffer.observed().gradients, 2);
  EXPECT_FALSE(rig.buffer.observed().is_sparse);
}

TEST(GradientBuffer, IsPendingUntilItsSideStreamIsWaitedFor) {
  GradientRig rig;
  rig.buffer.set_side_work(&rig.side);
  rig.begin_filled();
  for (int i = 0; i < 2; ++i) {
    const GradientTarget target = rig.buffer.open({}, at::kFloat, &rig.side);
    rig.side.run({}, [target] { target.into.add_(1); });
    EXPECT_EQ(rig.state(), GradientState::pending);
  }
  EXPECT_EQ(rig.done, 0);
  rig.buffer.open({}, at::kFloat).into.mul_(3);  // on the current stream, behind both
  EXPECT_EQ(rig.done, 2);
  EXPECT_EQ(rig.state(), GradientState::accumulated);
  EXPECT_TRUE(rig.holds(6));
  rig.buffer.open({}, at::kFloat, &rig.side);
  rig.buffer.join();
  EXPECT_EQ(rig.state(), GradientState::accumulated);
}

TEST(GradientBuffer, IsPendingWhileACopyOfAutogradsGradientIsQueued) {
  GradientRig rig;
  rig.begin_stale();
  EXPECT_TRUE(rig.buffer.open_for_autograd(at::ones({3, 2}, at::kBFloat16)).overwrite);
  EXPECT_EQ(rig.state(), GradientState::pending);
  const auto [into, gradient] = rig.buffer.queued_copy();
  into.copy_(gradient);
  rig.buffer.copied();
  EXPECT_FALSE(rig.buffer.queued_copy().first.defined());
  EXPECT_FALSE(rig.buffer.open_for_autograd(at::ones({3, 2}, at::kBFloat16)).overwrite);
  EXPECT_EQ(rig.state(), GradientState::accumulated);
}

// As a block that is computed again makes one.
TEST(GradientBuffer, MakesTheQueuedCopyBeforeAPassInsideAnotherAdds) {
  const SparseRows row{.rows = at::tensor({1}, at::kLong), .gradient = at::ones({1, 2})};
  GradientRig rig;
  rig.begin_stale();
  rig.buffer.open_for_autograd(at::ones({3, 2}, at::kBFloat16));
  rig.give_ones();
  EXPECT_FALSE(rig.buffer.queued_copy().first.defined());
  EXPECT_TRUE(rig.holds(2));
  rig.buffer.set_reduced();
  rig.begin_stale();
  rig.buffer.open_for_autograd(at::ones({3, 2}, at::kBFloat16));
  rig.buffer.add_rows(row);
  EXPECT_EQ(rig.f32.sum().item<float>(), 8);
}

TEST(GradientBuffer, CountsAPassBetweenStepsAsDirty) {
  GradientRig rig;
  const at::Tensor flags = at::zeros({1}, at::kByte);
  rig.buffer.set_dirty({.flags = flags, .begin = 0});
  rig.begin_filled();
  rig.give_ones();
  EXPECT_EQ(flags.item<int>(), 0);
  rig.buffer.set_reduced();
  rig.give_ones();
  EXPECT_EQ(flags.item<int>(), 1);
  flags.zero_();
  rig.buffer.open_for_autograd(at::ones({3, 2}, at::kBFloat16));
  EXPECT_EQ(flags.item<int>(), 1);
}

TEST(GradientBuffer, WaitsOnceForWhatReadsItStill) {
  GradientRig rig;
  int waits = 0;
  rig.begin_filled();
  rig.buffer.set_reader([&] { ++waits; });
  rig.buffer.open({}, at::kFloat);
  rig.buffer.open({}, at::kFloat);
  rig.buffer.join();
  EXPECT_EQ(waits, 1);
}

// As a recipe's evaluation may make one.
TEST(GradientBuffer, ChangesNoStateByAPassBetweenSteps) {
  GradientRig rig;
  rig.whole_step();
  rig.give_ones();
  EXPECT_FALSE(rig.buffer.open_for_autograd(at::ones({3, 2}, at::kFloat)).overwrite);
  EXPECT_EQ(rig.state(), GradientState::reduced);
  EXPECT_TRUE(rig.holds(2));
  rig.buffer.restart();
  EXPECT_EQ(rig.state(), GradientState::reduced);
  rig.whole_step();
}

TEST(GradientBuffer, IsEmptyAgainAfterARestartWithinAStep) {
  GradientRig rig;
  rig.begin_stale();
  rig.give_ones();
  rig.f32.zero_();
  rig.buffer.restart();
  EXPECT_EQ(rig.state(), GradientState::empty);
  EXPECT_FALSE(rig.buffer.is_stale());
  rig.give_ones();
  EXPECT_TRUE(rig.holds(1));
}

TEST(GradientBuffer, BeginsAStepAfterOneThatBrokeOff) {
  GradientRig rig;
  rig.begin_stale();
  rig.buffer.open_for_autograd(at::ones({3, 2}, at::kFloat));
  rig.buffer.abandon();
  EXPECT_EQ(rig.state(), GradientState::reduced);
  rig.whole_step();
  EXPECT_TRUE(rig.holds(1));
}

TEST(GradientBuffer, IsSparseUntilItGetsAnythingElseThanRows) {
  const SparseRows row{.rows = at::tensor({1}, at::kLong), .gradient = at::ones({1, 2})};
  GradientRig rig;
  EXPECT_FALSE(rig.buffer.is_sparse());
  rig.begin_filled();
  rig.buffer.add_rows(row);
  rig.buffer.add_rows(row);
  EXPECT_TRUE(rig.buffer.is_sparse());
  EXPECT_EQ(rig.buffer.row_count(), 2);
  EXPECT_EQ(rig.f32.sum().item<float>(), 4);
  std::vector<SparseRows> kept;
  rig.buffer.keep_rows(&kept);
  rig.buffer.add_rows(row);
  EXPECT_EQ(kept.size(), 1U);
  EXPECT_EQ(rig.f32.sum().item<float>(), 4);
  rig.buffer.add_kept_rows(kept[0]);
  EXPECT_EQ(rig.f32.sum().item<float>(), 6);
  rig.buffer.open({}, at::kFloat);
  EXPECT_FALSE(rig.buffer.is_sparse());
  // In fp32 autograd adds to the same memory, and nobody sees it.
  GradientBuffer of_fp32("w", rig.f32, /*autograd_adds=*/true);
  of_fp32.add_rows(row);
  EXPECT_FALSE(of_fp32.is_sparse());
}

// Each call with the states in which it is refused. `call` ends the process.
struct Refusal {
  std::string error;
  std::function<void(GradientRig&)> prepare, call;
};

TEST(GradientBufferDeathTest, ACallOutOfOrderIsRefusedByTheParametersName) {
  const auto stale = [](GradientRig& rig) { rig.begin_stale(); };
  const auto accumulated = [](GradientRig& rig) {
    rig.begin_filled();
    rig.give_ones();
  };
  const auto pending = [](GradientRig& rig) {
    rig.buffer.set_side_work(&rig.side);
    rig.begin_filled();
    rig.buffer.open({}, at::kFloat, &rig.side);
  };
  const auto queued = [](GradientRig& rig) {
    rig.begin_stale();
    rig.buffer.open_for_autograd(at::ones({3, 2}, at::kFloat));
  };
  const auto nothing = [](GradientRig&) {};
  const SparseRows row{.rows = at::tensor({1}, at::kLong), .gradient = at::ones({1, 2})};
  const auto begin = [](GradientRig& rig) { rig.begin_filled(); };
  const auto join = [](GradientRig& rig) { rig.buffer.join(); };
  const auto open_aside = [](GradientRig& rig) {
    rig.buffer.open(overwrites, at::kFloat, &rig.side);
  };
  const auto add_kept = [&](GradientRig& rig) { rig.buffer.add_kept_rows(row); };
  const auto by_autograd = [](GradientRig& rig) {
    rig.buffer.open_for_autograd(at::ones({3, 2}, at::kFloat));
  };
  const auto added = [](GradientRig& rig) { rig.buffer.added_by_autograd(); };
  const auto reduced = [](GradientRig& rig) { rig.buffer.set_reduced(); };
  const auto reader = [](GradientRig& rig) { rig.buffer.set_reader([] {}); };
  const auto reduce_buffer = [](GradientRig& rig) {
    rig.buffer.set_reduce_buffer(at::zeros({3, 2}));
  };
  const std::vector<Refusal> refusals{
      {"begin_step of layer.weight, which is accumulated", accumulated, begin},
      {"begin_step of layer.weight, which is pending", pending, begin},
      {"join of layer.weight, which is pending, with a copy queued", queued, join},
      {"open of layer.weight, which is reduced", nothing, open_aside},
      {"open_for_autograd of layer.weight, which is pending", pending, by_autograd},
      {"added_by_autograd of layer.weight, which is empty and stale", stale, added},
      {"set_reduced of layer.weight, which is pending", pending, reduced},
      {"set_reduced of layer.weight, which is empty and stale", stale, reduced},
      {"add_kept_rows of layer.weight, which is pending", pending, add_kept},
      {"add_kept_rows of layer.weight, which is empty and stale", stale, add_kept},
      {"set_reader of layer.weight, which is pending", pending, reader},
      {"set_reduce_buffer of layer.weight, which is accumulated", accumulated, reduce_buffer},
  };
  for (const Refusal& refusal : refusals) {
    GradientRig rig;
    refusal.prepare(rig);
    EXPECT_DEATH(refusal.call(rig), "internal error: " + refusal.error);
  }
}

}  // namespace
}  // namespace lockstep
