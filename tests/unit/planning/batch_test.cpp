// solve_batch over thousands of combinations: exact, or an error whose sizes work and are nearest.
#include "core/base/error.h"
#include "plan_fixtures.h"
#include "planning/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {
namespace {

struct Ask {
  std::int64_t world_size = 1, global = 0, micro = 0, accumulation = 0, default_global = 0,
               largest_micro = 1 << 30;
};

BatchPlan solve(const Ask& ask) {
  return solve_batch(ask.world_size, ask.global, ask.micro, ask.accumulation, ask.default_global,
                     ask.largest_micro);
}

std::optional<Error> refusal_of(const Ask& ask) {
  try {
    solve(ask);
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

// Whether the batch divides; one that is smaller than the ranks need not.
bool works(Ask ask, std::int64_t global) {
  ask.global = global;
  return !refusal_of(ask) && solve(ask).places() == global;
}

// The sizes that a hint "set batch.global to 96 or 128" names.
std::vector<std::int64_t> sizes_in(const std::string& hint) {
  long long first = 0, second = 0;
  const int found = std::sscanf(hint.c_str(), "set batch.global to %lld or %lld", &first, &second);
  if (found == 2) return {first, second};
  return found == 1 ? std::vector<std::int64_t>{first} : std::vector<std::int64_t>{};
}

// Every size named works, and no size between them, or below the only one, does.
void expect_nearest_sizes(const Ask& ask, std::int64_t wanted, const Error& error) {
  const auto sizes = sizes_in(error.hint());
  ASSERT_FALSE(sizes.empty()) << error.hint();
  for (const std::int64_t size : sizes) EXPECT_TRUE(works(ask, size)) << error.hint();
  const std::int64_t below = sizes.size() == 2 ? sizes.front() : 0;
  EXPECT_LT(below, wanted);
  EXPECT_GT(sizes.back(), wanted);
  for (std::int64_t size = below + 1; size < sizes.back(); ++size)
    EXPECT_FALSE(works(ask, size)) << size << " lies nearer than " << error.hint();
}

void expect_exact(const BatchPlan& batch, const Ask& ask) {
  EXPECT_EQ(batch.world_size, ask.world_size);
  EXPECT_EQ(batch.world_size * batch.micro * batch.accumulation, batch.global);
  EXPECT_GE(batch.micro, 1);
  EXPECT_GE(batch.accumulation, 1);
}

TEST(SolveBatch, SaysWhichSizesDivideInTheAgreedWords) {
  const auto error = refusal_of({.world_size = 8, .global = 100, .micro = 4});
  ASSERT_TRUE(error);
  EXPECT_STREQ(
      error->what(),
      "global batch 100 does not divide into 8 GPUs x micro-batch 4 (needs a multiple of 32)");
  EXPECT_EQ(error->hint(), "set batch.global to 96 or 128");
}

TEST(SolveBatch, NamesTheRanksAsItIsTold) {
  try {
    solve_batch(3, 100, 0, 0, 0, 1, "CPU rank");
    FAIL() << "100 does not divide by 3";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "global batch 100 does not divide into 3 CPU ranks (needs a multiple of 3)");
  }
}

TEST(SolveBatch, FindsTheThirdOfAnyTwo) {
  for (std::int64_t world_size = 1; world_size <= 16; ++world_size)
    for (std::int64_t micro = 1; micro <= 12; ++micro)
      for (std::int64_t accumulation = 1; accumulation <= 12; ++accumulation) {
        const std::int64_t global = world_size * micro * accumulation;
        for (const Ask& ask :
             {Ask{.world_size = world_size, .micro = micro, .accumulation = accumulation},
              Ask{.world_size = world_size, .global = global, .accumulation = accumulation},
              Ask{.world_size = world_size, .global = global, .micro = micro},
              Ask{world_size, global, micro, accumulation}}) {
          const BatchPlan batch = solve(ask);
          EXPECT_EQ(batch.global, global);
          EXPECT_EQ(batch.micro, micro);
          EXPECT_EQ(batch.accumulation, accumulation);
        }
      }
}

TEST(SolveBatch, IsExactOrNamesTheNearestSizesThatWork) {
  for (std::int64_t world_size = 1; world_size <= 16; ++world_size)
    for (std::int64_t global = 1; global <= 70; global += 3)
      for (const Ask& factor : {Ask{}, Ask{.micro = 2}, Ask{.micro = 5}, Ask{.accumulation = 3},
                                Ask{.accumulation = 4}}) {
        const Ask ask{world_size, global, factor.micro, factor.accumulation};
        const std::int64_t multiple = world_size * std::max<std::int64_t>(1, factor.micro) *
                                      std::max<std::int64_t>(1, factor.accumulation);
        const auto error = refusal_of(ask);
        if (global < world_size && factor.micro <= 1 && factor.accumulation <= 1) continue;
        EXPECT_EQ(!error, global % multiple == 0);
        if (error)
          expect_nearest_sizes(ask, global, *error);
        else
          expect_exact(solve(ask), ask);
      }
}

// No size that works lies nearer, and of two as near the larger is taken.
void expect_nearest_of_all(const Ask& ask, const BatchPlan& batch) {
  const std::int64_t distance = std::abs(batch.global - ask.default_global);
  const bool below = batch.global < ask.default_global;
  for (std::int64_t size = ask.default_global - distance + 1;
       size < ask.default_global + distance + (below ? 1 : 0); ++size)
    EXPECT_FALSE(size > 0 && works(ask, size)) << size << " is as near as " << batch.global;
}

TEST(SolveBatch, RoundsADefaultGlobalBatchOnlyWhereItMust) {
  for (std::int64_t world_size = 1; world_size <= 16; ++world_size)
    for (std::int64_t global = 1; global <= 64; ++global)
      for (const std::int64_t micro : {0, 1, 3, 4})
        for (const std::int64_t accumulation : {0, 2}) {
          if (micro > 0 && accumulation > 0) continue;
          const Ask ask{world_size, 0, micro, accumulation, global};
          const BatchPlan batch = solve(ask);
          expect_exact(batch, ask);
          EXPECT_EQ(batch.global == global, works(ask, global));
          EXPECT_EQ(batch.rounded_from, batch.global == global ? 0 : global);
          if (batch.rounded_from > 0) expect_nearest_of_all(ask, batch);
        }
}

TEST(SolveBatch, PicksTheLargestMicroBatchThatFitsAndDivides) {
  for (std::int64_t world_size = 1; world_size <= 16; ++world_size)
    for (std::int64_t share = 1; share <= 60; ++share)
      for (const std::int64_t largest : {1, 2, 5, 8, 31, 1000}) {
        const std::int64_t global = share * world_size;
        std::int64_t expected = std::min(share, largest);
        while (share % expected != 0) --expected;
        const Ask ask{.world_size = world_size, .global = global, .largest_micro = largest};
        EXPECT_EQ(solve(ask).micro, expected) << global << " on " << world_size;
        expect_exact(solve(ask), ask);
      }
}

TEST(SolveBatch, FindsLargeDivisorsQuickly) {
  const std::int64_t global = std::int64_t{1} << 40;
  EXPECT_EQ(solve({.global = global, .largest_micro = global - 1}).micro, global / 2);
  EXPECT_EQ(solve({.global = 999999000001, .largest_micro = 999999000000}).micro, 1);  // a prime
}

TEST(SolveBatch, TakesOneSampleWhereNothingFits) {
  EXPECT_EQ(solve({.global = 8, .largest_micro = 0}).micro, 1);
}

TEST(SolveBatch, RefusesThreeSizesThatDisagree) {
  const auto error = refusal_of({2, 100, 8, 4});
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(),
               "global batch 100 is not 2 GPUs x micro-batch 8 x accumulation 4 = 64");
  ASSERT_EQ(sizes_in(error->hint()), std::vector<std::int64_t>{64});
  EXPECT_TRUE(works({2, 100, 8, 4}, 64));
}

TEST(SolveBatch, AsksForAGlobalBatchWhereThereIsNone) {
  for (const Ask& ask : {Ask{.world_size = 3}, Ask{.world_size = 3, .micro = 5},
                         Ask{.world_size = 3, .accumulation = 5}}) {
    const auto error = refusal_of(ask);
    ASSERT_TRUE(error);
    EXPECT_STREQ(error->what(), "the global batch is not known: the recipe has no default for it");
    EXPECT_NE(error->hint().find("batch.global"), std::string::npos);
  }
}

std::string hint_of_frozen(std::int64_t global, int ranks, std::int64_t micro = 0) {
  TrainOptions options;
  options.batch.global = global;
  options.batch.micro = micro;
  try {
    check_frozen_batch(options, {}, cpu_ranks(ranks));
  } catch (const Error& error) {
    return error.hint();
  }
  return "";
}

TEST(FrozenBatch, NamesTheNumbersOfRanksThatWork) {
  EXPECT_EQ(hint_of_frozen(12, 5),
            "use 1, 2, 3, 4, 6 or 12 ranks: the global batch of a run stays 12");
  EXPECT_EQ(hint_of_frozen(7, 2), "use 1 or 7 ranks: the global batch of a run stays 7");
  EXPECT_EQ(
      hint_of_frozen(12, 4, 4),
      "set batch.micro to 1 or 3, or leave it out, or use 1 or 3 ranks: the global batch of a "
      "run stays 12");
  EXPECT_EQ(
      hint_of_frozen(12, 2, 12),
      "set batch.micro to 1, 2, 3 or 6, or leave it out, or use 1 rank: the global batch of a "
      "run stays 12");
  EXPECT_EQ(hint_of_frozen(12, 2, 5),
            "set batch.micro to 1, 2, 3 or 6, or leave it out: the global batch of a run stays 12");
}

TEST(FrozenBatch, IsRefusedExactlyWhereTheSolverRefusesIt) {
  for (std::int64_t global = 1; global <= 40; ++global)
    for (int ranks = 1; ranks <= 12; ++ranks)
      for (const std::int64_t micro : {0, 1, 3})
        EXPECT_EQ(hint_of_frozen(global, ranks, micro).empty(),
                  !refusal_of({.world_size = ranks, .global = global, .micro = micro}))
            << global << " on " << ranks << " by " << micro;
}

TEST(SolveBatch, RefusesSizesOutOfRange) {
  const std::int64_t huge = std::int64_t{1} << 62, large = std::int64_t{1} << 39;
  for (const Ask& ask :
       {Ask{.global = -1}, Ask{.micro = -2}, Ask{.accumulation = -3}, Ask{.global = huge},
        Ask{.micro = huge}, Ask{.micro = large, .accumulation = large},
        Ask{.world_size = 8, .global = 64, .micro = large}, Ask{8, 64, large, large}})
    EXPECT_TRUE(refusal_of(ask));
}

TEST(SolveBatch, GivesOneSampleToEachRankAsFarAsTheyGo) {
  for (std::int64_t ranks = 2; ranks <= 9; ++ranks)
    for (std::int64_t global = 1; global < ranks; ++global)
      for (const std::int64_t micro : {0, 1}) {
        const BatchPlan batch = solve({.world_size = ranks, .global = global, .micro = micro});
        EXPECT_EQ(batch.global, global);
        EXPECT_EQ(batch.micro, 1);
        EXPECT_EQ(batch.accumulation, 1);
        EXPECT_EQ(batch.places(), ranks);
      }
  const auto error = refusal_of({.world_size = 4, .global = 3, .micro = 2});
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(),
               "global batch 3 is less than 4 GPUs x micro-batch 2: with fewer samples than ranks "
               "each has one at most");
  // A default is rounded up, so that every device has something to do.
  EXPECT_EQ(solve({.world_size = 4, .default_global = 1}).global, 4);
}

// What samples of several rows are cut into: all rows have a place, and no rank a micro-batch that
// could be left out.
TEST(SolveBatch, GivesEveryRowOfASampleAPlace) {
  for (std::int64_t ranks = 1; ranks <= 9; ++ranks)
    for (std::int64_t global = 1; global <= 9; ++global)
      for (const std::int64_t rows : {2, 6, 7})
        for (const std::int64_t limit : {1, 2, 3, 5, 1000}) {
          const BatchPlan batch = solve_batch(ranks, global, 0, 0, 0, limit, "GPU", rows);
          EXPECT_EQ(batch.global, global);
          EXPECT_EQ(batch.rows(), global * rows);
          EXPECT_GE(batch.places(), batch.rows());
          EXPECT_LE(batch.micro, limit);
          const std::int64_t share = batch.rows_per_rank();
          EXPECT_GE(batch.micro * batch.accumulation, share);
          EXPECT_LT(batch.micro * (batch.accumulation - 1), share);
          EXPECT_LT(batch.micro * batch.accumulation - share, batch.accumulation);
        }
}

TEST(SolveBatch, FindsTheThirdSizeOfSamplesOfSeveralRows) {
  const auto of = [](std::int64_t global, std::int64_t micro, std::int64_t accumulation) {
    const BatchPlan batch = solve_batch(2, global, micro, accumulation, 3, 1000, "GPU", 6);
    return std::vector<std::int64_t>{batch.global, batch.micro, batch.accumulation};
  };
  EXPECT_EQ(of(0, 0, 0), (std::vector<std::int64_t>{3, 9, 1}));  // 18 rows
  EXPECT_EQ(of(0, 4, 0), (std::vector<std::int64_t>{3, 4, 3}));
  EXPECT_EQ(of(1, 0, 2), (std::vector<std::int64_t>{1, 2, 2}));
  EXPECT_EQ(of(0, 3, 4), (std::vector<std::int64_t>{4, 3, 4}));  // both: the batch grows
  const auto refusal = [&](std::int64_t global, std::int64_t micro, std::int64_t accumulation) {
    try {
      of(global, micro, accumulation);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(
      refusal(0, 4, 1),
      "2 GPUs x micro-batch 4 x accumulation 1 are 8 rows, which is no whole number of samples "
      "of 6 rows");
  EXPECT_EQ(refusal(1, 3, 2),
            "global batch 1 is 6 rows, and 2 GPUs x micro-batch 3 need accumulation 1, not 2");
}

TEST(FrozenBatch, OfSamplesWithSeveralRowsGoesOnOnAnyNumberOfRanks) {
  TrainOptions options;
  options.batch.global = 1;
  const Facts facts{.rows_per_sample = 6};
  for (int ranks = 1; ranks <= 8; ++ranks) check_frozen_batch(options, facts, cpu_ranks(ranks));
  options.exact = true;
  check_frozen_batch(options, facts, cpu_ranks(3));
  try {
    check_frozen_batch(options, facts, cpu_ranks(4));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "global batch 1 of 6 rows does not divide into 4 CPU ranks");
    EXPECT_EQ(error.hint(), "use 1, 2, 3 or 6 ranks: the global batch of a run stays 1");
  }
}

TEST(FrozenData, MustHaveTheSameSamples) {
  const Facts before{.train_samples = 100, .valid_samples = 10};
  const auto refusal = [&](Facts now, const std::string& where) {
    try {
      check_frozen_data(before, now, where);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(before, ""), "");
  EXPECT_EQ(refusal({.train_samples = 100, .valid_samples = 10, .epoch_size = 100}, ""), "");
  EXPECT_EQ(refusal({.train_samples = 90, .valid_samples = 10}, "data.path=/x"),
            "the training data had another number of samples when the run began: 100, now: 90 "
            "(data.path=/x)");
  EXPECT_EQ(refusal({.train_samples = 100, .valid_samples = 11}, ""),
            "the validation data had another number of samples when the run began: 10, now: 11");
  EXPECT_NE(refusal({.train_samples = 100, .valid_samples = 10, .epoch_size = 50}, ""), "");
  EXPECT_NE(refusal({.train_samples = 100, .valid_samples = 10, .rows_per_sample = 2}, ""), "");
}

}  // namespace
}  // namespace lockstep
