// The layout of parameters, its buckets, and how large they should be.
#include "planning/batch/buckets.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(Layout, RunsBackwardsWithEachParameterAligned) {
  const ArenaLayout layout = lay_out({100, 64, 1});
  EXPECT_EQ(layout.offsets, (std::vector<std::int64_t>{128, 64, 0}));
  EXPECT_EQ(layout.elements, 256);
  EXPECT_EQ(lay_out({100, 64, 1}, 3 * arena_alignment).elements, 3 * 192);
}

TEST(Buckets, CoverTheArenaAndCutNoParameter) {
  const std::vector<std::int64_t> sizes{1'000'000, 5, 300'000, 0, 2'000'000, 70'000, 400'000};
  const ArenaLayout layout = lay_out(sizes);
  for (const std::int64_t bytes :
       {std::int64_t{1}, std::int64_t{1} << 20, std::int64_t{6} << 20, std::int64_t{1} << 40}) {
    const std::vector<Bucket> buckets = cut_buckets(layout, sizes, bytes);
    std::int64_t at = 0, parameters = 0;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      EXPECT_EQ(buckets[b].begin, at);
      at = buckets[b].end;
      for (const std::int64_t p : buckets[b].parameters) {
        const auto i = static_cast<std::size_t>(p);
        EXPECT_GE(layout.offsets[i], buckets[b].begin);
        EXPECT_LE(layout.offsets[i] + sizes[i], at);
        ++parameters;
      }
    }
    EXPECT_EQ(at, layout.elements);
    EXPECT_EQ(parameters, 7);
  }
}

// In MiB.
std::vector<std::int64_t> bucket_sizes(const std::vector<std::int64_t>& parameters,
                                       std::int64_t bytes) {
  std::vector<std::int64_t> sizes, found;
  for (const std::int64_t mebibytes : parameters) sizes.push_back(mebibytes << 18);
  for (const Bucket& bucket : cut_buckets(lay_out(sizes), sizes, bytes << 20))
    found.push_back((bucket.end - bucket.begin) >> 18);
  return found;
}

TEST(Buckets, AreOfTheWantedSizeWithASmallOneFirstAndSmallOnesLast) {
  const std::vector<std::int64_t> ones(64, 1);
  EXPECT_EQ(bucket_sizes(ones, 8), (std::vector<std::int64_t>{1, 8, 8, 8, 8, 8, 8, 8, 4, 2, 1}));
  EXPECT_EQ(bucket_sizes(ones, 1), ones);
  EXPECT_EQ(bucket_sizes(ones, 1000), (std::vector<std::int64_t>{1, 32, 16, 8, 4, 2, 1}));
  EXPECT_EQ(bucket_sizes({1}, 25), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(bucket_sizes({100}, 25), (std::vector<std::int64_t>{100}));
  // A large parameter that comes last does not hold up what comes before it.
  EXPECT_EQ(bucket_sizes({90, 1, 1, 10, 10}, 25), (std::vector<std::int64_t>{10, 10, 2, 90}));
}

TEST(LinkSpeed, IsTheLineThroughTwoTimes) {
  const LinkSpeed link = fit_link_speed(1e6, 12e-6, 101e6, 512e-6);
  EXPECT_NEAR(link.bytes_per_s, 200e9, 1);
  EXPECT_NEAR(link.latency_s, 7e-6, 1e-12);
  // A small one that took less than the speed allows has no latency.
  EXPECT_EQ(fit_link_speed(1e6, 1e-6, 101e6, 501e-6).latency_s, 0);
  // Noise: the large one was not slower.
  EXPECT_EQ(fit_link_speed(1e6, 5e-5, 1e8, 4e-5).latency_s, 5e-5);
}

// The cost that the root minimises, written out.
double cost(const LinkSpeed& link, double gradient_bytes, double bucket) {
  return link.latency_s * gradient_bytes / bucket + link.latency_s + bucket / link.bytes_per_s;
}

TEST(BucketSize, CostsLeastOfAllSizes) {
  for (const LinkSpeed link : {LinkSpeed{30e-6, 280e9}, LinkSpeed{60e-6, 6e9}})
    for (const std::int64_t gradients : {40'000'000, 500'000'000}) {
      const auto best = static_cast<double>(best_bucket_bytes(link, gradients));
      const auto all = static_cast<double>(gradients);
      for (const double factor : {0.5, 0.8, 1.25, 2.0})
        EXPECT_LT(cost(link, all, best), cost(link, all, best * factor)) << factor;
    }
}

TEST(BucketSize, StaysBetweenTheSmallestAndAllAtOnce) {
  EXPECT_EQ(best_bucket_bytes({0, 1e9}, 1 << 30), smallest_bucket_bytes);
  EXPECT_EQ(best_bucket_bytes({1, 1e12}, 1 << 30), 1 << 30);
  EXPECT_EQ(best_bucket_bytes({1, 1e12}, 8), smallest_bucket_bytes);
}

}  // namespace
}  // namespace lockstep
