// Buckets: order, early firing, parameters without gradients, accumulation without communication.
#include "training/gradients/reducer.h"

#include "fakes/plan_steps.h"
#include "fakes/thread_ranks.h"
#include "fakes/toy_recipe.h"

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones.h>

#include <new>

namespace lockstep {
namespace {

TEST(Reducer, SumsOverRanksOnce) {
  testing::with_ranks(3, [](ProcessGroup& group) {
    testing::ToyModel model(1);
    ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
    GradientBuffers gradients(storage);
    Reducer reducer(gradients, group, ReducePrecision::fp32);
    gradients.zero();
    const double share = group.rank() + 1;
    (model.first.sum() * share).backward();  // not armed: stays local
    EXPECT_EQ(model.first.grad()[0][0].item<double>(), share);
    reducer.arm();
    (model.first.sum() * share).backward();
    reducer.flush();
    reducer.wait();
    EXPECT_EQ(model.first.grad()[0][0].item<double>(), 2 * (1 + 2 + 3));
  });
}

TEST(Reducer, WaitsForNoParameterThatGotNoGradientOnSomeRanks) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    testing::ToyModel model(1);
    ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
    GradientBuffers gradients(storage);
    Reducer reducer(gradients, group, ReducePrecision::fp32);
    for (int step = 0; step < 3; ++step) {
      gradients.zero();
      reducer.arm();
      at::Tensor loss = model.second.sum();
      if (group.rank() == 1) loss = loss + model.rare.sum() * 5;
      loss.backward();
      reducer.flush();
      reducer.wait();
      EXPECT_EQ(model.rare.grad()[0].item<double>(), 5);
      EXPECT_EQ(model.second.grad()[0][0].item<double>(), 2);
      EXPECT_EQ(model.unused.grad().abs().sum().item<double>(), 0);
    }
  });
}

// What follows a sum may run out of memory; then all of it is waited for again.
TEST(Reducer, AWaitThatFailedCanBeRepeated) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    testing::ToyModel model(1);
    ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
    GradientBuffers gradients(storage);
    Reducer reducer(gradients, group, ReducePrecision::fp32);
    gradients.zero();
    reducer.arm();
    model.first.sum().backward();
    reducer.flush();
    EXPECT_THROW(reducer.wait([](const at::Tensor&) { throw std::bad_alloc(); }), std::bad_alloc);
    std::int64_t summed = 0;
    reducer.flush();
    reducer.wait([&](const at::Tensor& range) { summed += range.numel(); });
    EXPECT_EQ(summed, gradients.flat().numel());
    EXPECT_EQ(model.first.grad()[0][0].item<double>(), 2);
    reducer.arm();
    model.second.sum().backward();
    reducer.flush();
    reducer.wait();
  });
}

TEST(Reducer, CountsAParameterUsedByTwoForwardPassesOnce) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    testing::ToyModel model(1);
    ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
    GradientBuffers gradients(storage);
    Reducer reducer(gradients, group, ReducePrecision::fp32);
    gradients.zero();
    reducer.arm();
    (model.first.sum() + 3 * model.first.sum()).backward();
    reducer.flush();
    reducer.wait();
    EXPECT_EQ(model.first.grad()[0][0].item<double>(), 8);
  });
}

TEST(Reducer, FiresBucketsBeforeBackwardEndsWhenAllGradientsArrive) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    testing::ToyModel model(1);
    ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
    GradientBuffers gradients(storage);
    Reducer reducer(gradients, group, ReducePrecision::fp32);
    gradients.zero();
    reducer.arm();
    (model.first.sum() + model.bias.sum() + model.second.sum() + model.rare.sum() +
     model.unused.sum())
        .backward();
    EXPECT_EQ(reducer.buckets_fired_early(), 1);
    reducer.flush();
    reducer.wait();
  });
}

// Eleven parameters of 1 MiB each.
class ReducedModel : public Model {
 public:
  std::vector<Parameter> parameters() override {
    std::vector<Parameter> all;
    for (std::size_t i = 0; i < weights.size(); ++i)
      all.push_back({.name = "w" + std::to_string(i), .tensor = weights[i]});
    return all;
  }
  std::vector<at::Tensor> weights = [] {
    std::vector<at::Tensor> made;
    for (int i = 0; i < 11; ++i) made.push_back(at::ones({1 << 18}).set_requires_grad(true));
    return made;
  }();
};

TEST(Reducer, TellsOfEachPartThatIsSummedOnceAndOfLessAndLess) {
  for (const ReducePrecision precision : {ReducePrecision::fp32, ReducePrecision::bf16})
    testing::with_ranks(2, [precision](ProcessGroup& group) {
      ReducedModel model;
      ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat, nullptr,
                               smallest_bucket_bytes);
      GradientBuffers gradients(storage);
      ASSERT_EQ(storage.buckets().size(), 11U);
      Reducer reducer(gradients, group, precision);
      gradients.zero();
      reducer.arm();
      at::Tensor loss = at::zeros({});
      for (const at::Tensor& weight : model.weights) loss = loss + weight.sum();
      loss.backward();
      reducer.flush();
      std::vector<std::int64_t> sizes;
      std::int64_t at = 0;
      reducer.wait([&](const at::Tensor& range) {
        EXPECT_EQ(range.storage_offset(), at);
        EXPECT_TRUE(
            range.is_alias_of(gradients.sums().defined() ? gradients.sums() : gradients.flat()));
        EXPECT_TRUE(range.eq(2).all().item<bool>());
        sizes.push_back(range.numel() >> 18);
        at += range.numel();
      });
      EXPECT_EQ(sizes, (std::vector<std::int64_t>{9, 2}));
    });
}

TEST(Reducer, InBf16RoundsTheSumOnly) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    testing::ToyModel model(1);
    ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
    GradientBuffers gradients(storage);
    Reducer reducer(gradients, group, ReducePrecision::bf16);
    gradients.zero();
    reducer.arm();
    (model.first.sum() * 1.001).backward();
    reducer.flush();
    reducer.wait();
    EXPECT_NEAR(model.first.grad()[0][0].item<double>(), 2.002, 0.02);
    EXPECT_NE(model.first.grad()[0][0].item<float>(), 2.002F);
  });
}

// Norm and update can read them there.
TEST(Reducer, LeavesSumsInBf16WhereThePlanReadsThem) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    testing::ToyModel model(1);
    ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
    GradientBuffers gradients(storage);
    Reducer reducer(gradients, group, ReducePrecision::bf16);
    for (int step = 0; step < 3; ++step) {
      const bool is_planned = step > 0;
      gradients.zero();
      reducer.arm();
      (model.first.sum() * 1.001).backward();
      if (step == 1) testing::plan_steps(gradients, /*reads_low_sums=*/true);
      reducer.flush();
      reducer.wait();
      EXPECT_EQ(gradients.sums_of(0).scalar_type(), is_planned ? at::kBFloat16 : at::kFloat);
      EXPECT_TRUE(storage.view(gradients.sums_of(0), 0).sub(2.002).abs().max().item<float>() <
                  0.02F);
      EXPECT_EQ(storage.view(gradients.sums_of(1), 1).abs().sum().item<float>(), 0);
      if (is_planned) EXPECT_EQ(model.first.grad()[0][0].item<float>(), 1.001F);  // this rank's
    }
  });
}

// A rank that had no whole step has no plan yet, and reads the same sums.
TEST(Reducer, ARankMayReadSumsElsewhereThanAnother) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    testing::ToyModel model(1);
    ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
    GradientBuffers gradients(storage);
    Reducer reducer(gradients, group, ReducePrecision::bf16);
    const bool breaks_off = group.rank() == 1;
    gradients.zero();
    if (breaks_off)
      reducer.skip_rest();
    else
      reducer.arm();
    if (!breaks_off) {
      (model.first.sum() * 2).backward();
      testing::plan_steps(gradients, /*reads_low_sums=*/true);
    }
    reducer.flush();
    reducer.wait();
    EXPECT_NE(gradients.plan().reads_reduce_buffer(), breaks_off);
    EXPECT_EQ(storage.view(gradients.sums_of(0), 0)[0][0].item<float>(), 2);
  });
}

TEST(Reducer, OfOneRankAddsUpNothingInBf16) {
  testing::with_ranks(1, [](ProcessGroup& group) {
    testing::ToyModel model(1);
    ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
    GradientBuffers gradients(storage);
    const Reducer reducer(gradients, group, ReducePrecision::bf16);
    EXPECT_FALSE(gradients.sums().defined());
  });
}

TEST(ParameterStorage, HoldsParametersInReverseOrderWithoutOverlap) {
  testing::ToyModel model(1);
  const at::Tensor first = model.first.detach().clone();
  ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
  GradientBuffers gradients(storage);
  EXPECT_TRUE(at::allclose(storage.view(storage.master(), 0), first, 0, 0));
  EXPECT_EQ(storage.places().back().begin, 0);
  for (std::size_t i = 0; i + 1 < storage.places().size(); ++i) {
    EXPECT_GE(storage.places()[i].begin,
              storage.places()[i + 1].begin + storage.places()[i + 1].elements);
    EXPECT_EQ(storage.places()[i].begin % arena_alignment, 0);
  }
  model.first.mutable_grad().fill_(2);
  EXPECT_EQ(storage.view(gradients.flat(), 0).sum().item<double>(), 2 * 16 * 5);
}

class TwoOfOneName : public Model {
 public:
  std::vector<Parameter> parameters() override {
    const at::Tensor one = at::ones({2}).set_requires_grad(true);
    return {{"w", one}, {"w", one}};
  }
};

TEST(ParameterStorage, RefusesTwoParametersOfOneName) {
  TwoOfOneName model;
  EXPECT_THROW(ParameterStorage(model.parameters(), at::kCPU, at::kFloat), std::exception);
}

}  // namespace
}  // namespace lockstep
