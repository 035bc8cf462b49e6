// Ranks that watch each other over a store that is a vector here.
#include "runtime/launch/watch/peer_watch.h"

#include "core/base/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <stdexcept>

namespace lockstep {
namespace {

using ::testing::HasSubstr;

struct Store {
  std::mutex mutex;
  std::vector<std::string> words;
  bool closed = false;
};

class PeerWatchTest : public ::testing::Test {
 protected:
  PeerWatchTest() {
    for (const char* host : {"a", "b"}) add(host);
  }
  void add(const std::string& host) {
    posts.push_back({.host = host});
    store.words.push_back(to_text(posts.back()));
  }
  void close_store() {
    const std::lock_guard lock(store.mutex);
    store.closed = true;
  }
  // What it says ends up in `ends`.
  std::unique_ptr<PeerWatch> watch(std::size_t rank, std::promise<Verdict>& ends) {
    return std::make_unique<PeerWatch>(
        WatchedWorld{
            .rank = static_cast<int>(rank), .size = posts.size(), .store = "a:1", .period_s = 0.01},
        posts,
        [this, rank](const std::string& own) {
          const std::lock_guard lock(store.mutex);
          if (store.closed) throw std::runtime_error("closed");
          store.words[rank] = own;
          return store.words;
        },
        [&ends](const Verdict& verdict) { ends.set_value(verdict); });
  }
  static std::string what(std::promise<Verdict>& ends) {
    auto verdict = ends.get_future();
    if (verdict.wait_for(std::chrono::seconds(20)) != std::future_status::ready) return "nothing";
    return verdict.get().what;
  }

  Store store;
  std::vector<Post> posts;
  std::promise<Verdict> ends[2];
};

TEST_F(PeerWatchTest, WhatOneTellsEndsTheOther) {
  const auto a = watch(0, ends[0]), b = watch(1, ends[1]);
  a->tell("broke");
  EXPECT_EQ(what(ends[1]), "rank 0 on a failed: broke");
}

TEST_F(PeerWatchTest, AStoreThatClosesEndsThem) {
  const auto b = watch(1, ends[1]);
  close_store();
  EXPECT_THAT(what(ends[1]), HasSubstr("rank 0 on a has ended"));
}

TEST_F(PeerWatchTest, WhatSomebodyElseWroteToTheStoreEndsThemAndIsNamed) {
  const auto b = watch(1, ends[1]);
  {
    const std::lock_guard lock(store.mutex);
    store.words[0] = "garbage";
  }
  EXPECT_THAT(what(ends[1]), HasSubstr("in the store is damaged: \"garbage\""));
}

TEST_F(PeerWatchTest, WhoHasLeftDoesNotMindTheOthersGoing) {
  auto b = watch(1, ends[1]);
  b->leave();
  close_store();
  b.reset();
  EXPECT_EQ(ends[1].get_future().wait_for(std::chrono::seconds(0)), std::future_status::timeout);
}

TEST_F(PeerWatchTest, ARankWithoutAWordEndsThemAfterTheTimeThatItMayTake) {
  const auto a = watch(0, ends[0]);
  a->follow(0.5, [this](const Verdict& verdict) { ends[1].set_value(verdict); });
  EXPECT_THAT(what(ends[1]), HasSubstr("rank 1 on b does not answer: no word of it for "));
}

TEST_F(PeerWatchTest, WhoServesTheStoreStaysUntilTheOthersHaveTheirVerdict) {
  add("c");
  const auto a = watch(0, ends[0]), c = watch(2, ends[1]);
  a->follow(0.5, [this](const Verdict& verdict) {
    close_store();
    ends[0].set_value(verdict);
  });
  c->follow(1.5, [this](const Verdict& verdict) { ends[1].set_value(verdict); });
  for (std::promise<Verdict>& end : ends)
    EXPECT_THAT(what(end), HasSubstr("rank 1 on b does not answer: no word of it for "));
}

TEST_F(PeerWatchTest, ItLooksOnWhileTheStoreHoldsItUp) {
  std::promise<void> release;
  std::promise<Verdict> end;
  PeerWatch watch(
      {.rank = 1, .size = 2, .store = "a:1", .period_s = 0.01}, posts,
      [until = release.get_future().share()](const std::string&) {
        until.wait();
        return std::vector<std::string>(2, to_text({}));
      },
      [](const Verdict&) {});
  watch.follow(0.5, [&end](const Verdict& verdict) { end.set_value(verdict); });
  EXPECT_THAT(what(end), HasSubstr("no word from a:1, where it serves the store, for "));
  release.set_value();
}

}  // namespace
}  // namespace lockstep
