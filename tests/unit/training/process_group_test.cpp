// How long ranks wait for each other, and the words that they leave in the store.
#include "training/distributed/process_group.h"

#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/base/clock.h"
#include "core/base/text/text.h"
#include "fakes/thread_ranks.h"
#include "runtime/launch/world/store_client.h"
#include "training/distributed/rendezvous.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

constexpr RankLimits short_start{.start_s = 1};

// Whether a rank takes too long is for hang watches to say; a checkpoint may.
TEST(ProcessGroup, ACollectiveWaitsForARankAsLongAsItTakes) {
  testing::with_ranks(
      2,
      [](ProcessGroup& group) {
        const at::Tensor one = at::ones({1});
        if (group.rank() == 1) system_clock().sleep_s(2.5);
        group.all_reduce(one)->wait();
        EXPECT_EQ(one.item<float>(), 2);
        if (group.rank() == 0) system_clock().sleep_s(1.5);
        EXPECT_EQ(group.share("word", group.rank() == 0 ? "said" : ""), "said");
        if (group.rank() == 1) system_clock().sleep_s(1.5);
        EXPECT_TRUE(group.all_agree(true));
      },
      short_start);
}

TEST(ProcessGroup, AKeyMayBeUsedAgain) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    for (int use = 0; use < 3; ++use) {
      if (group.rank() == 0) system_clock().sleep_s(0.05);
      EXPECT_EQ(group.share("word", group.rank() == 0 ? cat(use) : ""), cat(use));
      if (group.rank() == 1) system_clock().sleep_s(0.05);
      const std::vector<std::string> all = group.collect("words", cat(group.rank(), use));
      if (group.rank() == 0) EXPECT_EQ(all, (std::vector<std::string>{cat(0, use), cat(1, use)}));
    }
  });
}

TEST(ProcessGroup, TheEndDoesNotWaitForARankThatFailsThere) {
  const double begin_s = system_clock().now_s();
  EXPECT_THROW(testing::with_ranks(2,
                                   [](ProcessGroup& group) {
                                     if (group.rank() == 0) return;
                                     group.barrier();  // that of the others' end
                                     throw std::runtime_error("failed in its end");
                                   },
                                   {.start_s = 60, .collective_s = 60, .end_s = 0.5}),
               std::runtime_error);
  EXPECT_LT(system_clock().now_s(), begin_s + 20);
}

// Another run, or another program, at the same port of a TCP store.
TEST(ProcessGroup, MoreRanksThanThereAreAreAnError) {
  const StoreServer store;
  StoreClient(store.door()).add("came", 7);
  try {
    ProcessGroup group({.rank = 0, .size = 2, .local_size = 2, .store_door = store.door()},
                       cpu_backend(), short_start);
    ADD_FAILURE();
  } catch (const MeetingFailed& error) {
    EXPECT_THAT(error.what(), HasSubstr("8 ranks came to "));
    EXPECT_THAT(error.what(), HasSubstr(", but there are 2"));
  }
}

TEST(ProcessGroup, WordsThatNoRankLeftAreAnError) {
  const StoreServer store;
  StoreClient(store.door()).set({{"next", "-5"}, {"vote/1/votes", "9"}, {"vote/2", "?"}});
  const auto fails = [](const auto& ask) {
    try {
      ask();
      ADD_FAILURE();
    } catch (const CollectiveFailed& error) {
      EXPECT_THAT(error.what(), HasSubstr("the store holds what no rank left there ("));
    }
  };
  testing::with_ranks(store, 2, [&](ProcessGroup& group) {
    fails([&] { group.next_number("next"); });
    fails([&] { group.all_agree(true); });
    // The answer to the second vote is there before the last rank has cast its own.
    if (group.rank() == 0) fails([&] { group.all_agree(true); });
    group.barrier();
    if (group.rank() == 1) EXPECT_TRUE(group.all_agree(true));
  });
}

}  // namespace
}  // namespace lockstep
