// The numbers of a scaling table from events that a test writes.
#include "runtime/run/progress/scaling_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// `seconds` of each step, from step 1 on; every rank waits as much of each step as `waits` says.
std::vector<json> events(const std::vector<double>& seconds,
                         const std::vector<double>& waits = {}) {
  std::vector<json> all = {{{"kind", "start"},
                            {"unit", "tokens"},
                            {"units_per_step", 100},
                            {"flops_per_step", 5e10},
                            {"peak_flops", 1e12},
                            {"mfu_unknown", ""}}};
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    all.push_back({{"kind", "step"}, {"step", i + 1}, {"step_s", seconds[i]}});
    if (!waits.empty()) all.back()["rank_wait_shares"] = waits;
  }
  return all;
}

BenchRun run(const std::vector<double>& seconds, const std::vector<double>& waits = {},
             std::int64_t warm_up = 0) {
  return read_bench_run(events(seconds, waits), warm_up);
}

TEST(Quantile, IsInterpolated) {
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_DOUBLE_EQ(quantile({1, 2}, 0.5), 1.5);
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 0.1), 2);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.9), 7);
}

TEST(BenchRuns, LeaveOutTheWarmUp) {
  EXPECT_THAT(run({9, 9, 1, 2}, {}, 2).step_s, ElementsAre(1, 2));
}

TEST(BenchRuns, ReadTheAllReduceAndTheGraph) {
  std::vector<json> all = events({1});
  all.push_back({{"kind", "graph"}, {"step", 4}, {"captured", true}});
  all.push_back({{"kind", "all_reduce"}, {"bytes", 100}, {"seconds", {5, 1, 2}}});
  const BenchRun read = read_bench_run(all, 0);
  EXPECT_EQ(read.graph_step, 4);
  ASSERT_TRUE(read.all_reduce);
  EXPECT_DOUBLE_EQ(read.all_reduce->seconds, 2);
  all.back()["seconds"] = json::array();
  EXPECT_FALSE(read_bench_run(all, 0).all_reduce);
}

TEST(AllReduce, OnTheBusIsWhatCrossesEachLink) {
  const AllReduce all_reduce{.bytes = 8e9, .seconds = 2};
  EXPECT_DOUBLE_EQ(all_reduce.algorithm_bytes_per_s(), 4e9);
  EXPECT_DOUBLE_EQ(all_reduce.bus_bytes_per_s(2), 4e9);
  EXPECT_DOUBLE_EQ(all_reduce.bus_bytes_per_s(8), 7e9);
}

TEST(ScalingRows, TakeTheMedianOverAllRepeats) {
  const ScalingRow row = scaling_row(1, {}, {run({1, 2, 3}), run({2, 2, 8})});
  EXPECT_DOUBLE_EQ(row.median_step_s, 2);
  EXPECT_EQ(row.steps, 6);
  EXPECT_THAT(row.repeat_medians_s, ElementsAre(2, 2));
  EXPECT_DOUBLE_EQ(row.units_per_s, 50);
  EXPECT_DOUBLE_EQ(*row.mfu, 0.025);
  EXPECT_LT(row.p10_step_s, row.median_step_s);
  EXPECT_GT(row.p90_step_s, row.median_step_s);
}

TEST(ScalingRows, NameTheRankThatWaitsLeast) {
  const ScalingRow row =
      scaling_row(3, {}, {run({1, 1}, {0.2, 0.05, 0.3}), run({1, 1}, {0.2, 0.03, 0.3})});
  EXPECT_NEAR(*row.exposed_share, 0.04, 1e-12);
  EXPECT_EQ(row.slowest, 1);
  EXPECT_FALSE(scaling_row(2, {}, {run({1}, {0.04, 0.045})}).slowest);
}

TEST(ScalingRows, KnowNothingOfWaitingThatNobodyMeasured) {
  std::vector<json> all = events({1, 1}, {0.1, 0.2});
  all.back()["rank_wait_shares"][1] = nullptr;
  const ScalingRow row = scaling_row(2, {}, {read_bench_run(all, 0)});
  EXPECT_FALSE(row.exposed_share);
  EXPECT_FALSE(row.slowest);
  EXPECT_TRUE(to_json(row).at("exposed_share").is_null());
  EXPECT_THAT(scaling_text({row}), HasSubstr("unknown"));
}

TEST(ScalingRows, SendNothingOnOneDevice) {
  std::vector<json> all = events({1}, {0.1});
  all.push_back({{"kind", "all_reduce"}, {"bytes", 100}, {"seconds", {1}}});
  const ScalingRow row = scaling_row(1, {}, {read_bench_run(all, 0)});
  EXPECT_FALSE(row.all_reduce);
  EXPECT_FALSE(row.exposed_share);
}

TEST(Efficiency, IsThroughputADeviceAgainstTheSmallestNumber) {
  std::vector<ScalingRow> rows = {scaling_row(2, {}, {run({1})}), scaling_row(4, {}, {run({0.8})})};
  compare(rows);
  EXPECT_DOUBLE_EQ(rows[0].efficiency, 1);
  EXPECT_DOUBLE_EQ(rows[1].efficiency, 1 / 0.8 / 2);
}

TEST(ScalingText, IsATable) {
  ScalingRow one = scaling_row(1, {.global = 32}, {run({0.2})});
  ScalingRow two = scaling_row(2, {.global = 32}, {run({0.1}, {0.01, 0.05})});
  two.all_reduce = AllReduce{.bytes = 1e9, .seconds = 0.1};
  two.link = LinkLimit{"NVLink", 450e9};
  std::vector<ScalingRow> rows = {one, two};
  compare(rows);
  EXPECT_EQ(scaling_text(rows),
            "DEVICES  BATCH    STEP  P10-P90      SPEED  EFFICIENCY    MFU  EXPOSED  ALL-REDUCE  "
            "    BUS             LINK  SLOWEST\n"
            "      1     32  200 ms  200-200  500 tok/s      100.0%  25.0%        -           -  "
            "      -                -        -\n"
            "      2     32  100 ms  100-100   1k tok/s      100.0%  50.0%     1.0%     10 GB/s  "
            "10 GB/s  450 GB/s NVLink   rank 0\n");
}

TEST(ScalingJson, HoldsNullForWhatIsUnknown) {
  const json row = to_json(scaling_row(2, {.global = 32}, {run({0.1})}));
  for (const char* key : {"exposed_share", "wait_shares", "slowest_rank", "all_reduce", "link"})
    EXPECT_TRUE(row.at(key).is_null()) << key;
  EXPECT_EQ(row.at("global_batch"), 32);
}

}  // namespace
}  // namespace lockstep
