// What a log notes at steps, less what later resumes took back.
#include "runtime/run/curves/step_list.h"

#include <gtest/gtest.h>

#include <random>

namespace lockstep {
namespace {

TEST(StepList, LosesWhatAResumeTookBackAndKeepsItsOrder) {
  StepList<char> list;
  EXPECT_EQ(list.last(), nullptr);
  list.add(3, 'a');
  list.add(1, 'b');
  list.add(3, 'c');
  list.take_back(2);
  ASSERT_NE(list.last(), nullptr);
  EXPECT_EQ(*list.last(), 'b');
  list.add(3, 'd');
  list.take_back(3);
  EXPECT_EQ(list.take(), (std::vector<char>{'b', 'd'}));
  EXPECT_EQ(list.last(), nullptr);
}

TEST(StepList, IsTheSameAsErasingAtOnce) {
  std::mt19937 random(7);
  StepList<int> list;
  std::vector<std::pair<std::int64_t, int>> erased;
  for (int i = 0; i < 5000; ++i) {
    const auto step = static_cast<std::int64_t>(random() % 100);
    if (random() % 4 == 0) {
      list.take_back(step);
      std::erase_if(erased, [&](const auto& one) { return one.first > step; });
    } else {
      list.add(step, i);
      erased.emplace_back(step, i);
    }
    ASSERT_EQ(list.last() == nullptr, erased.empty());
    if (!erased.empty()) ASSERT_EQ(*list.last(), erased.back().second);
  }
  const std::vector<int> kept = list.take();
  ASSERT_EQ(kept.size(), erased.size());
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i], erased[i].second);
}

}  // namespace
}  // namespace lockstep
