#include "recipes/fewshot/pictures/picture_cache.h"

#include <gmock/gmock.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace lockstep::fewshot {
namespace {

constexpr std::uint64_t view_bytes = 10 * 10 * 3;

Image view(int value) {
  Image image({.height = 10, .width = 10, .channels = 3});
  for (std::uint8_t& one : image.u8()) one = static_cast<std::uint8_t>(value);
  return image;
}

TEST(PictureCache, AViewIsMadeOnce) {
  PictureCache cache(10 * view_bytes);
  int made = 0;
  const auto get = [&](const PictureKey& key) {
    return cache.get(key, [&] {
      ++made;
      return view(key.picture);
    });
  };
  EXPECT_EQ(*get({1}), view(1));
  EXPECT_EQ(get({1}), get({1}));
  EXPECT_EQ(made, 1);
  EXPECT_NE(get({1, 0}), get({1}));  // a crop of the same picture
  const PictureCache::Counts counts = cache.counts();
  EXPECT_EQ(counts.misses, 2);
  EXPECT_EQ(counts.hits, 3);
  EXPECT_EQ(counts.views, 2);
  EXPECT_EQ(counts.bytes, 2 * view_bytes);
}

TEST(PictureCache, WhatWasNotAskedForTheLongestGoesFirst) {
  PictureCache cache(2 * view_bytes + 5);
  std::vector<int> made;
  const auto get = [&](int key) {
    return cache.get({key}, [&] {
      made.push_back(key);
      return view(key);
    });
  };
  const auto first = get(1);
  get(2);
  get(1);
  get(3);  // 2 goes
  get(1);
  get(2);  // 3 goes
  EXPECT_THAT(made, ::testing::ElementsAre(1, 2, 3, 2));
  EXPECT_EQ(cache.counts().evicted, 2);
  EXPECT_EQ(cache.counts().bytes, 2 * view_bytes);
  get(4);
  get(5);
  EXPECT_EQ(*first, view(1));  // still held by us
}

TEST(PictureCache, WhatIsLargerThanTheBoundIsNotKept) {
  for (const std::uint64_t capacity : {std::uint64_t{0}, view_bytes - 1}) {
    PictureCache cache(capacity);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(*cache.get({1}, [] { return view(1); }), view(1));
    EXPECT_EQ(cache.counts().misses, 2);
    EXPECT_EQ(cache.counts().bytes, 0u);
  }
}

TEST(PictureCache, AFaultReachesTheCallerAndIsNotKept) {
  PictureCache cache(10 * view_bytes);
  EXPECT_THROW(cache.get({1}, []() -> Image { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(*cache.get({1}, [] { return view(1); }), view(1));
}

TEST(PictureCache, ThoseWhoAskWhileAViewIsMadeWaitForIt) {
  PictureCache cache(10 * view_bytes);
  std::latch begun(1), go(1);
  std::atomic<int> made = 0;
  const auto make = [&] {
    ++made;
    begun.count_down();
    go.wait();
    return view(1);
  };
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<const Image>> got(4);
  threads.emplace_back([&] { got[0] = cache.get({1}, make); });
  begun.wait();
  for (std::size_t i = 1; i < 4; ++i)
    threads.emplace_back([&, i] { got[i] = cache.get({1}, make); });
  while (cache.counts().hits < 3) std::this_thread::yield();
  go.count_down();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
  for (const auto& one : got) EXPECT_EQ(one, got[0]);
}

TEST(PictureCache, ManyThreadsNeverMakeAViewTwiceAtATimeNorLeaveTheBound) {
  PictureCache cache(5 * view_bytes);
  std::mutex lock;
  std::set<int> making;
  std::atomic<bool> twice = false, over = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        const int key = (i * (t + 3)) % 11;
        const auto got = cache.get({key}, [&] {
          {
            const std::lock_guard guard(lock);
            if (!making.insert(key).second) twice = true;
          }
          Image made = view(key);
          const std::lock_guard guard(lock);
          making.erase(key);
          return made;
        });
        if (got->u8()[0] != key) twice = true;
        if (cache.counts().bytes > 5 * view_bytes) over = true;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(twice);
  EXPECT_FALSE(over);
  EXPECT_EQ(cache.counts().hits + cache.counts().misses, 2000);
}

}  // namespace
}  // namespace lockstep::fewshot
