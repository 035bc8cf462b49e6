// What ranks tell each other with a step comes out as it was put in.
#include "training/step/step_metrics.h"
#include "ops/step_scalars/step_scalars.h"

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>

namespace lockstep {
namespace {

const auto f64 = at::TensorOptions().dtype(at::kDouble);

// Of three ranks with two terms and a logged number, added up.
class Numbers : public ::testing::Test {
 protected:
  void add(int rank, const RankReport& report, const std::vector<double>& means, double dropped = 0,
           Phase failed = Phase::none) {
    const StepMetrics own(2, 1, rank, 3);
    const at::Tensor sums = own.new_sums(f64);
    own.terms(sums).copy_(at::tensor(means, f64));
    own.logged(sums).copy_(logged);
    sum =
        sum + own.own(own.report(report, cpu_backend()), sums, at::full({1}, dropped, f64), failed);
  }
  StepResult read(double norm = 3, double dropped = 0) const {
    const at::Tensor whole = host_metrics(sum, at::full({1}, norm), at::full({1}, 8.0),
                                          at::full({1}, dropped, f64), at::tensor({2.5, 4.0}, f64));
    return StepMetrics(2, 1, 1, 3).read(7, whole);
  }

  at::Tensor logged = at::zeros({1, 2}, f64);
  at::Tensor sum = at::zeros({2 + 2 + 4 + 3 * 5}, f64);
};

TEST_F(Numbers, AreTheSumsAndTheReportOfEachRank) {
  add(0, {.stop_quota = 1, .save = 1, .wait_s = 0.25, .memory = {.peak_bytes = 11}}, {1, 10});
  add(1, {.wait_s = 0.5, .memory = {.allocated_bytes = 5, .reserved_bytes = 6}}, {2, 20});
  add(2, {.stop_signal = 1}, {4, 40});
  const StepResult result = read();
  EXPECT_EQ(result.step, 7);
  EXPECT_EQ(result.terms, (std::vector<double>{7, 70}));
  EXPECT_EQ(result.loss, 77);
  EXPECT_EQ(result.gradient_norm, 3);
  EXPECT_EQ(result.loss_scale, 8);
  EXPECT_EQ(result.wait_s, 1.5);
  EXPECT_EQ(result.stop_signal, 1);
  EXPECT_EQ(result.stop_quota, 1);
  EXPECT_EQ(result.save, 1);
  ASSERT_EQ(result.ranks.size(), 3U);
  EXPECT_EQ(result.ranks[0].wait_s, 0.25);
  EXPECT_EQ(result.ranks[0].memory.peak_bytes, 11);
  EXPECT_EQ(result.ranks[1].memory.allocated_bytes, 5);
  EXPECT_EQ(result.ranks[1].memory.reserved_bytes, 6);
  EXPECT_FALSE(result.dropped || result.not_finite || result.skipped);
}

TEST_F(Numbers, AreMeansOfWhatWasLogged) {
  logged = at::tensor({3.0, 2.0}, f64).view({1, 2});
  add(0, {}, {1, 10});
  logged = at::tensor({7.0, 3.0}, f64).view({1, 2});
  add(1, {}, {1, 10});
  EXPECT_EQ(read().logged, std::vector<double>{2});
}

TEST_F(Numbers, AreNotNumbersWhereNothingWasLogged) {
  add(0, {}, {1, 10});
  ASSERT_EQ(read().logged.size(), 1U);
  EXPECT_TRUE(std::isnan(read().logged[0]));
}

TEST_F(Numbers, NameTheRankAndPhaseInWhichMemoryRanOut) {
  add(0, {}, {1, 1});
  add(1, {}, {1, 1}, 0, Phase::backward);
  add(2, {.out_of_memory = Phase::data}, {1, 1});
  const StepResult result = read();
  EXPECT_TRUE(result.dropped);
  EXPECT_EQ(result.ranks[0].out_of_memory, Phase::none);
  EXPECT_EQ(result.ranks[1].out_of_memory, Phase::backward);
  EXPECT_EQ(result.ranks[2].out_of_memory, Phase::data);
}

TEST_F(Numbers, SayThatAStepBeforeWasDropped) {
  for (int rank = 0; rank < 3; ++rank) add(rank, {}, {1, 1}, 1);
  EXPECT_TRUE(read(3, 3).dropped);
}

TEST_F(Numbers, TellALossThatIsNotFiniteFromALossScaleThatIsTooLarge) {
  for (int rank = 0; rank < 3; ++rank) add(rank, {}, {1, 1});
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(read(inf, 1).not_finite);
  EXPECT_TRUE(read(inf, 0).skipped);
  EXPECT_FALSE(read(inf, 0).not_finite);
}

}  // namespace
}  // namespace lockstep
