// Metrics from records.
#include "recipes/textgen/model/metrics.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::textgen {
namespace {

at::Tensor records() {
  return at::tensor({6.0, 3.0, 4.0, 10.0, 5.0, 12.0}, at::kDouble).view({2, 3});
}

TEST(TextMetrics, AreTheirDefinitions) {
  const std::vector<Metric> metrics = text_metrics(records(), std::nullopt);
  ASSERT_EQ(metrics.size(), 4);
  EXPECT_EQ(metrics[0].name, "loss");
  EXPECT_DOUBLE_EQ(metrics[0].value, 2.0);
  EXPECT_EQ(metrics[0].unit, "nats/token");
  EXPECT_EQ(metrics[1].name, "perplexity");
  EXPECT_DOUBLE_EQ(metrics[1].value, std::exp(2.0));
  EXPECT_EQ(metrics[2].name, "bits_per_byte");
  EXPECT_DOUBLE_EQ(metrics[2].value, 1.0 / std::log(2.0));
  EXPECT_EQ(metrics[3].name, "tokens");
  EXPECT_EQ(metrics[3].value, 8);
}

TEST(TextMetrics, AddThePairTableWhereItIsKnown) {
  const std::vector<Metric> metrics = text_metrics(records(), 3.5);
  ASSERT_EQ(metrics.size(), 5);
  EXPECT_EQ(metrics[4].name, "pair_bits_per_byte");
  EXPECT_EQ(metrics[4].value, 3.5);
}

TEST(TextMetrics, AreEqualForAnySharingOutOfTheRows) {
  const at::Tensor all = at::rand({97, 3}, at::kDouble).add(0.1);
  const double loss = text_metrics(all, std::nullopt)[0].value;
  for (std::int64_t ranks = 2; ranks < 6; ++ranks) {
    // Rank r holds rows r, r + ranks, …; gathered in order they are the same matrix.
    std::vector<at::Tensor> shares;
    for (std::int64_t r = 0; r < ranks; ++r)
      shares.push_back(all.slice(0, r, 97, ranks).contiguous());
    std::vector<at::Tensor> rows;
    for (std::int64_t i = 0; i < 97; ++i)
      rows.push_back(shares[static_cast<std::size_t>(i % ranks)][i / ranks].unsqueeze(0));
    EXPECT_EQ(text_metrics(at::cat(rows), std::nullopt)[0].value, loss);
  }
}

}  // namespace
}  // namespace lockstep::textgen
