// Batch norm over several ranks is that of all their rows.
#include "ops/batch_norm/batch_norm.h"

#include "core/base/error.h"
#include "fakes/thread_ranks.h"
#include "ops/shared/recompute.h"

#include <gtest/gtest.h>

#include <ATen/ops/arange.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace lockstep {
namespace {

struct Normed {
  at::Tensor out, of_x, of_weight, of_bias, mean, variance;
};

BatchNormState new_state(std::int64_t channels) {
  return {.weight = at::arange(1, channels + 1).to(at::kFloat).set_requires_grad(true),
          .bias = at::arange(channels).to(at::kFloat).mul(0.1).set_requires_grad(true),
          .running_mean = at::zeros({channels}),
          .running_var = at::ones({channels})};
}

// The loss weighs every value differently, so that no gradient vanishes.
Normed run_norm(const at::Tensor& rows, const at::Tensor& factors,
                const StatisticsOfRanks* of_ranks) {
  const BatchNormState state = new_state(rows.size(1));
  const at::Tensor x = rows.clone().set_requires_grad(true);
  const at::Tensor out = batch_norm(x, state, /*training=*/true, of_ranks);
  out.mul(factors).sum().backward();
  return {out.detach(),      x.grad(),           state.weight.grad(),
          state.bias.grad(), state.running_mean, state.running_var};
}

void expect_near(const at::Tensor& a, const at::Tensor& b, const char* what) {
  EXPECT_TRUE(a.sizes() == b.sizes()) << what;
  EXPECT_LE(a.sub(b).norm().item<double>(), 1e-5 * (1 + b.norm().item<double>())) << what;
}

// Ranks, and how many of the first have no rows.
class OverRanks : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(OverRanks, AllRowsCountOnceOnWhateverRankTheyAre) {
  const auto [ranks, idle] = GetParam();
  at::manual_seed(1);
  const at::Tensor rows = at::randn({12, 3, 4, 5}).mul(2).add(1),
                   factors = at::randn({12, 3, 4, 5});
  const Normed whole = run_norm(rows, factors, nullptr);
  // Unequal shares: the last rank takes what is left.
  std::vector<Normed> parts(static_cast<std::size_t>(ranks));
  testing::with_ranks(ranks, [&, ranks = ranks, idle = idle](ProcessGroup& group) {
    const std::int64_t share = 12 / ranks - (ranks > 1 ? 1 : 0);
    const std::int64_t begin = std::max(group.rank() - idle, 0) * share;
    std::int64_t size = group.rank() + 1 == ranks ? 12 - begin : share;
    if (group.rank() < idle) size = 0;
    const StatisticsOfRanks of_ranks{
        .sum = [&](const at::Tensor& values) { group.all_reduce_apart(values)->wait(); },
        .rank = group.rank(),
        .ranks = ranks};
    parts[static_cast<std::size_t>(group.rank())] =
        run_norm(rows.narrow(0, begin, size), factors.narrow(0, begin, size), &of_ranks);
  });
  std::vector<at::Tensor> outs, of_x;
  at::Tensor of_weight = at::zeros({3}), of_bias = at::zeros({3});
  for (const Normed& part : parts) {
    outs.push_back(part.out);
    of_x.push_back(part.of_x);
    of_weight += part.of_weight;
    of_bias += part.of_bias;
    expect_near(part.mean, whole.mean, "running mean");
    expect_near(part.variance, whole.variance, "running variance");
  }
  expect_near(at::cat(outs), whole.out, "result");
  expect_near(at::cat(of_x), whole.of_x, "gradient of x");
  expect_near(of_weight, whole.of_weight, "gradient of weight");
  expect_near(of_bias, whole.of_bias, "gradient of bias");
}

INSTANTIATE_TEST_SUITE_P(Ranks, OverRanks,
                         ::testing::Values(std::tuple(1, 0), std::tuple(2, 0), std::tuple(2, 1),
                                           std::tuple(3, 0), std::tuple(3, 1), std::tuple(4, 0),
                                           std::tuple(4, 2)));

StatisticsOfRanks two_alike() {
  return {.sum = [](const at::Tensor& values) { values.mul_(2); }, .rank = 0, .ranks = 2};
}

TEST(BatchNorm, KeepsChannelsLastAndTheDtype) {
  const at::Tensor x =
      at::randn({4, 3, 5, 6}).to(at::kBFloat16).contiguous(at::MemoryFormat::ChannelsLast);
  const StatisticsOfRanks of_ranks = two_alike();
  for (const StatisticsOfRanks* ranks :
       {static_cast<const StatisticsOfRanks*>(nullptr), &of_ranks}) {
    const at::Tensor out = batch_norm(x, new_state(3), true, ranks);
    EXPECT_EQ(out.scalar_type(), at::kBFloat16);
    EXPECT_TRUE(out.is_contiguous(at::MemoryFormat::ChannelsLast));
  }
}

TEST(BatchNorm, EvaluatesByTheRunningStatisticsAndLeavesThem) {
  const BatchNormState state = new_state(3);
  state.running_mean.fill_(2);
  const at::Tensor out = batch_norm(at::ones({2, 3}).mul(2), state, /*training=*/false);
  expect_near(out, state.bias.expand({2, 3}), "result");
  EXPECT_TRUE(state.running_mean.equal(at::ones({3}).mul(2)));
}

TEST(BatchNorm, MovesRunningStatisticsOnceWhereABlockIsComputedAgain) {
  const StatisticsOfRanks of_ranks{.sum = [](const at::Tensor&) {}, .rank = 0, .ranks = 2};
  for (const StatisticsOfRanks* ranks :
       {static_cast<const StatisticsOfRanks*>(nullptr), &of_ranks}) {
    const BatchNormState plain = new_state(3), again = new_state(3);
    const at::Tensor x = at::randn({4, 3}).set_requires_grad(true);
    batch_norm(x, plain, true, ranks).sum().backward();
    recomputed(
        [&](const std::vector<at::Tensor>& in) -> std::vector<at::Tensor> {
          return {batch_norm(in[0], again, true, ranks)};
        },
        {x}, {again.weight, again.bias})[0]
        .sum()
        .backward();
    EXPECT_TRUE(again.running_mean.equal(plain.running_mean));
    EXPECT_TRUE(again.running_var.equal(plain.running_var));
  }
}

TEST(BatchNorm, ASkipWithANormOfItsOwnIsNormedFirst) {
  const StatisticsOfRanks of_ranks = two_alike();
  for (const bool training : {true, false})
    for (const StatisticsOfRanks* ranks :
         {static_cast<const StatisticsOfRanks*>(nullptr), &of_ranks}) {
      std::vector<std::vector<at::Tensor>> found;
      for (const bool together : {true, false}) {
        at::manual_seed(4);
        const at::Tensor x = at::randn({4, 3, 5, 6}).requires_grad_(),
                         skip = at::randn({4, 3, 5, 6}).mul(3).add(1).requires_grad_();
        const BatchNormState state = new_state(3), other = new_state(3);
        const at::Tensor out = together
                                   ? batch_norm(x, state, training, ranks,
                                                {.skip = skip, .skip_norm = other, .relu = true})
                                   : batch_norm(x, state, training, ranks)
                                         .add(batch_norm(skip, other, training, ranks))
                                         .relu();
        out.square().sum().backward();
        found.push_back({out, x.grad(), skip.grad(), state.weight.grad(), other.weight.grad(),
                         other.bias.grad(), state.running_mean, other.running_mean,
                         other.running_var});
      }
      for (std::size_t i = 0; i < found[0].size(); ++i)
        expect_near(found[0][i], found[1][i], std::to_string(i).c_str());
    }
}

TEST(BatchNorm, APoolTakesTheLargestAtTheEnd) {
  const StatisticsOfRanks of_ranks = two_alike();
  for (const StatisticsOfRanks* ranks :
       {static_cast<const StatisticsOfRanks*>(nullptr), &of_ranks}) {
    const at::Tensor x = at::randn({4, 3, 5, 6}), skip = at::randn({4, 3, 5, 6});
    const at::Tensor pooled =
        batch_norm(x, new_state(3), true, ranks,
                   {.skip = skip, .skip_norm = new_state(3), .pool = MaxPool{3, 2, 1}});
    const at::Tensor whole =
        batch_norm(x, new_state(3), true, ranks, {.skip = skip, .skip_norm = new_state(3)});
    expect_near(pooled, at::max_pool2d(whole, {3, 3}, {2, 2}, {1, 1}), "pooled");
  }
}

TEST(BatchNorm, ANormForNoSkipIsAnError) {
  EXPECT_THROW(
      batch_norm(at::randn({4, 3}), new_state(3), true, nullptr, {.skip_norm = new_state(3)}),
      Error);
}

TEST(BatchNorm, OfOneValuePerChannelIsAnError) {
  EXPECT_THROW(batch_norm(at::ones({1, 3}), new_state(3), true), std::exception);
}

}  // namespace
}  // namespace lockstep
