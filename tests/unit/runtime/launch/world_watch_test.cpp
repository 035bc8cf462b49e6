// What a rank of somebody else's world concludes from what all say, and from their silence.
#include "runtime/launch/watch/world_watch.h"

#include "fakes/error_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Ranks 0 and 1 on a, 2 and 3 on b; looked at by one of them.
class WorldWatchTest : public ::testing::Test {
 protected:
  WorldWatchTest() {
    for (int rank = 0; rank < 4; ++rank)
      news.posts.push_back(
          {.host = rank < 2 ? "a" : "b", .heartbeat = {.phase = Phase::forward, .step = 1000}});
    watch_as(0);
  }
  void watch_as(int rank) {
    watch.emplace(WatchedWorld{.rank = rank, .size = 4, .store = "10.0.0.1:29500"});
    watch->follow(60);
    news.posts[0].heartbeat.step = 1000;
    EXPECT_FALSE(watch->look(news, now_s));
    for (Post& post : news.posts) post.heartbeat.step = 1005;
  }
  void waits(std::size_t rank, std::uint64_t number) {
    news.posts[rank].heartbeat.waits_in = Collective::all_reduce;
    news.posts[rank].heartbeat.number = number;
  }
  // Looks each half second for so long; the ranks that `beat` talk, those that also `move` work.
  std::optional<Verdict> look_for(double seconds, const std::vector<std::size_t>& beat,
                                  const std::vector<std::size_t>& move = {}) {
    for (const double end_s = now_s + seconds; now_s < end_s; now_s += 0.5) {
      if (!beat.empty()) ++news.exchanges;
      for (const std::size_t rank : beat) ++news.posts[rank].beats;
      for (const std::size_t rank : move) ++news.posts[rank].heartbeat.moves;
      if (auto verdict = watch->look(news, now_s)) return verdict;
    }
    return std::nullopt;
  }

  News news;
  std::optional<WorldWatch> watch;
  double now_s = 100;
};

TEST_F(WorldWatchTest, LeavesRanksThatWorkAlone) {
  EXPECT_FALSE(look_for(1000, {0, 1, 2, 3}, {0, 1, 2, 3}));
}

TEST_F(WorldWatchTest, NamesAHostThatVanishesAfterTheTimeThatItMayTake) {
  waits(0, 7);
  look_for(1, {0, 1, 2});  // rank 3 spoke last a little earlier
  const double begin_s = now_s;
  const auto verdict = look_for(100, {0, 1});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->what,
            "ranks 2, 3 on b do not answer: no word of them for 60 s; rank 0 waits in "
            "all-reduce 7 of step 1005");
  EXPECT_THAT(verdict->hint, HasSubstr("--resume auto"));
  EXPECT_NEAR(now_s - begin_s, 60, 1);
}

TEST_F(WorldWatchTest, NamesTheHostOfTheStoreWhereThatIsSilent) {
  watch_as(2);
  const auto verdict = look_for(100, {});
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->what,
              HasSubstr("rank 0 on a does not answer: no word from 10.0.0.1:29500, "
                        "where it serves the store, for 60 s; rank 2 is in forward"));
}

TEST_F(WorldWatchTest, KnowsNothingOfRanksWhileTheStoreIsSilent) {
  EXPECT_FALSE(look_for(40, {0, 1, 2, 3}, {0, 1, 2, 3}));
  EXPECT_FALSE(look_for(50, {}));
  EXPECT_FALSE(look_for(55, {0, 1, 2}, {0, 1, 2}));  // rank 3 was heard when the store was
  EXPECT_TRUE(look_for(60, {0, 1, 2}, {0, 1, 2}));
}

TEST_F(WorldWatchTest, ARankThatSaysThatItFailedIsNamedAtOnce) {
  news.posts[3].failure = "something broke";
  const auto verdict = look_for(1, {0, 1, 2, 3});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->what, "rank 3 on b failed: something broke");
}

TEST_F(WorldWatchTest, OwnFailureIsNobodyElsesFault) {
  news.posts[0].failure = "something broke";
  EXPECT_FALSE(look_for(50, {0, 1, 2, 3}, {1, 2, 3}));
}

TEST_F(WorldWatchTest, AStoreThatIsGoneIsTheEndOfRank0) {
  watch_as(1);
  news.closed = true;
  const auto verdict = look_for(1, {});
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->what,
              HasSubstr("rank 0 on a has ended: the store at 10.0.0.1:29500 is gone"));
}

TEST_F(WorldWatchTest, AfterACollectiveThatFailedTheRankWithoutAWordIsNamedInSeconds) {
  look_for(10, {0, 1, 2, 3}, {0, 1, 2, 3});
  news.posts[0].failure = "all-reduce 7 of step 1005 failed: connection closed";
  news.posts[0].in_collective = true;
  const double begin_s = now_s;
  const auto verdict = look_for(20, {0, 1, 2}, {1, 2});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(
      verdict->what,
      "rank 3 on b has ended or vanished: all-reduce 7 of step 1005 failed: connection closed "
      "on rank 0 on a");
  EXPECT_LT(now_s - begin_s, 4);
}

TEST_F(WorldWatchTest, ACollectiveThatFailsLongAfterwardsIsNotSaidToBeTheEndOfASilentRank) {
  look_for(58, {0, 1, 2}, {0, 1, 2});
  news.posts[0].failure =
      "all-reduce 7 of step 1005 failed: connection closed";  // rank 1 ended first
  news.posts[0].in_collective = true;
  const auto verdict = look_for(1, {0, 2}, {2});
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->what, HasSubstr("rank 3 on b does not answer: no word of it for 58 s"));
}

TEST_F(WorldWatchTest, AfterACollectiveThatFailedWithoutACauseTheReportIsTheCause) {
  news.posts[2].failure = "all-reduce 7 of step 1005 failed: out of handles";
  news.posts[2].in_collective = true;
  const double begin_s = now_s;
  const auto verdict = look_for(20, {0, 1, 2, 3}, {0, 1, 3});
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->what, HasSubstr("out of handles on rank 2 on b"));
  EXPECT_NEAR(now_s - begin_s, 5, 1);
}

TEST_F(WorldWatchTest, ARankThatTalksButDoesNotMoveHangs) {
  for (const std::size_t rank : {0U, 1U, 2U}) waits(rank, 7);
  const auto verdict = look_for(100, {0, 1, 2, 3});
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->what, HasSubstr("rank 3 on b hangs: no sign of life for 60 s in forward of "
                                       "step 1005; rank 0 waits in all-reduce 7"));
}

TEST_F(WorldWatchTest, ASlowRankIsNoHangingOne) {
  for (const std::size_t rank : {0U, 1U, 2U}) waits(rank, 7);
  EXPECT_FALSE(look_for(1000, {0, 1, 2, 3}, {3}));
}

TEST_F(WorldWatchTest, OfARankThatIsSilentTooTheSilenceDecides) {
  look_for(30, {0, 1, 2, 3}, {0, 1, 2});  // rank 3 computes for long, and then vanishes
  for (const std::size_t rank : {0U, 1U, 2U}) waits(rank, 7);
  const auto verdict = look_for(100, {0, 1, 2});
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->what, HasSubstr("rank 3 on b does not answer: no word of it for 60 s"));
}

TEST_F(WorldWatchTest, BelievesNothingOfTheTimeThatItSleptItself) {
  look_for(10, {0, 1, 2, 3}, {0, 1, 2, 3});
  now_s += 1000;
  EXPECT_FALSE(look_for(50, {}));
  EXPECT_TRUE(look_for(20, {}));
}

TEST_F(WorldWatchTest, WithoutATimeNothingTakesTooLongButFailuresCount) {
  watch->follow(0);
  EXPECT_FALSE(look_for(1000, {}));
  news.posts[2].failure = "broke";
  EXPECT_TRUE(look_for(1, {}));
}

TEST_F(WorldWatchTest, WhereOneSpeaksSeldomItIsHeardAllTheSame) {
  watch.emplace(WatchedWorld{.rank = 0, .size = 4, .period_s = 6});
  watch->follow(60);
  for (int i = 0; i < 20; ++i)
    ASSERT_FALSE(look_for(5.5, {}) || look_for(0.5, {0, 1, 2, 3}, {0, 1, 2, 3}));
  bool ended = false;
  for (int i = 0; i < 12 && !ended; ++i)
    ended = look_for(5.5, {}) || look_for(0.5, {0, 1, 2}, {0, 1, 2});
  EXPECT_TRUE(ended);
}

TEST_F(WorldWatchTest, LooksForNoHangBeforeTheRunIsKnown) {
  watch.emplace(WatchedWorld{.rank = 0, .size = 4});
  EXPECT_FALSE(look_for(1000, {0, 1, 2, 3}));  // rank 0 prepares data
  EXPECT_TRUE(look_for(100, {0, 1}));
}

TEST(PostText, ComesBackAsItWas) {
  const Post post{.host = "node-7",
                  .beats = 12,
                  .heartbeat = {.moves = 3,
                                .phase = Phase::backward,
                                .step = 5,
                                .waits_in = Collective::gather,
                                .number = 9},
                  .failure = "two\nlines of it",
                  .in_collective = true};
  const Post same = post_from_text(to_text(post));
  EXPECT_EQ(same.host, post.host);
  EXPECT_EQ(same.beats, post.beats);
  EXPECT_EQ(describe(same.heartbeat), "waits in gather 9 of step 5");
  EXPECT_EQ(same.heartbeat.moves, 3U);
  EXPECT_EQ(same.failure, post.failure);
  EXPECT_TRUE(same.in_collective);
  EXPECT_EQ(post_from_text(to_text({.host = "b"})).failure, "");
}

// Whatever reaches the port of a TCP store may write to it.
TEST(PostText, WhatIsNoPostIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("a"), std::string("a 1 2 3"), std::string(" 1 2 3 4 5 6 0 "),
        std::string("a x 2 3 4 5 6 0 "), std::string("a 1 2 99 4 5 6 0 "),
        std::string("a 1 2 3 4 99 6 0 "), std::string("a 1 2 3 -4 5 6 0 "),
        std::string("a 1 2 3 4 5 6 2 "), std::string("a 1 99999999999999999999 3 4 5 6 0 "),
        std::string(std::size_t{2} << 20, ' '), std::string("\0\xff", 2)})
    EXPECT_THAT(error_of([&] { post_from_text(text); }),
                HasSubstr("what a rank says of itself in the store is damaged"));
}

TEST(PostText, ItsWordsDoNotSteerTheTerminal) {
  const Post post = post_from_text("a\x1b[2J 1 2 3 4 5 6 0 broke\x1b]0;owned\x07\nagain");
  EXPECT_EQ(post.host, "a\\x1b[2J");
  EXPECT_EQ(post.failure, "broke\\x1b]0;owned\\x07\nagain");
  const std::string longest(std::size_t{4} << 20, 'x');
  EXPECT_LT(post_from_text(to_text({.host = "a", .failure = longest})).failure.size(),
            longest.size());
}

TEST_F(WorldWatchTest, WordsThatMakeNoSenseEndTheWorld) {
  news.damage = "what is there is damaged";
  news.damage_hint = "look";
  const auto verdict = watch->look(news, now_s);
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->what, HasSubstr("what is there is damaged; rank 0 is in forward"));
  EXPECT_EQ(verdict->hint, "look");
}

}  // namespace
}  // namespace lockstep
