// Statistics of batch norm span the same rows on any number of ranks, or the plan says what would.
#include "planning/batch/norm_rows.h"

#include "fakes/error_of.h"
#include "planning/order/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace lockstep {
namespace {

using ::testing::HasSubstr;

struct Sync : TrainOptions {
  explicit Sync(std::int64_t rows) {
    norm.statistics = NormStatistics::sync;
    norm.rows = rows;
  }
};

TEST(NormRows, LeaveEachRankItsShare) {
  EXPECT_EQ(micro_of_norm_rows(Sync(12), 3, "GPU"), 4);
  EXPECT_EQ(micro_of_norm_rows(Sync(0), 3, "GPU"), 0);
  EXPECT_EQ(micro_of_norm_rows(TrainOptions(), 3, "GPU"), 0);
}

TEST(NormRows, ThatDoNotDivideAreRefusedWithTheNearest) {
  const std::string error = error_of([] { micro_of_norm_rows(Sync(12), 5, "GPU"); });
  EXPECT_THAT(error, HasSubstr("norm.rows 12 does not divide into 5 GPUs"));
  EXPECT_THAT(error, HasSubstr("10 or 15"));
  EXPECT_THAT(error_of([] { micro_of_norm_rows(Sync(3), 5, "GPU"); }), HasSubstr("norm.rows to 5"));
}

TEST(NormRows, RefuseWhatContradictsThem) {
  Sync other(12);
  other.batch.micro = 3;
  EXPECT_THAT(error_of([&] { micro_of_norm_rows(other, 2, "GPU"); }),
              HasSubstr("batch.micro is 3"));
  Sync exact(12);
  exact.exact = true;
  EXPECT_THAT(error_of([&] { micro_of_norm_rows(exact, 2, "GPU"); }), HasSubstr("exact = true"));
  Sync changes(12);
  changes.batch.micro_changes = "3:2";
  EXPECT_THAT(error_of([&] { micro_of_norm_rows(changes, 2, "GPU"); }),
              HasSubstr("batch.micro_changes"));
  TrainOptions rank;
  rank.norm.rows = 12;
  EXPECT_THAT(error_of([&] { micro_of_norm_rows(rank, 2, "GPU"); }),
              HasSubstr("norm.statistics=sync"));
}

TEST(NormRows, NeedARowInEveryPlace) {
  BatchPlan batch{.world_size = 2, .micro = 6, .accumulation = 2, .global = 24};
  EXPECT_EQ(norm_rows_of(Sync(0), batch), 12);
  EXPECT_EQ(norm_rows_of(TrainOptions(), batch), 0);
  batch = {.world_size = 4, .global = 3};
  EXPECT_THAT(error_of([&] { norm_rows_of(Sync(0), batch); }), HasSubstr("1 place to padding"));
}

// The rows of the ranks' micro-batches of one number.
std::vector<std::set<std::int64_t>> rows_that_meet(std::int64_t ranks) {
  const BatchPlan batch{
      .world_size = ranks, .micro = 12 / ranks, .accumulation = 3, .global = 36, .norm_rows = 12};
  std::vector<std::set<std::int64_t>> all;
  for (std::int64_t m = 0; m < batch.accumulation; ++m) {
    all.emplace_back();
    for (int rank = 0; rank < ranks; ++rank)
      for (std::int64_t row = 0; row < batch.micro; ++row)
        all.back().insert(first_global_row(batch, rank, m) + row);
  }
  return all;
}

TEST(NormRows, AreTheSameOnAnyNumberOfRanks) {
  for (const std::int64_t ranks : {2, 3, 4, 6, 12})
    EXPECT_EQ(rows_that_meet(ranks), rows_that_meet(1)) << ranks;
}

}  // namespace
}  // namespace lockstep
