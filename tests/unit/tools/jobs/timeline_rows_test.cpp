// The rows of a batch's timeline.
#include "tools/jobs/analysis/timeline_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

BatchAnalysis attempts(int count, int failed) {
  BatchAnalysis analysis;
  const auto none = std::make_shared<const std::vector<std::string>>();
  for (int i = 0; i < count; ++i)
    analysis.spans.push_back({.job = "job " + std::to_string(i),
                              .outcome = i == failed ? "failed" : "done",
                              .slot = i % 2,
                              .devices = none,
                              .begin = i * 0.5,
                              .end = i * 0.5 + 1});
  analysis.wall_s = count * 0.5 + 0.5;
  return analysis;
}

std::string name_of_job(const AttemptSpan& span) { return span.job; }

TEST(TimelineRows, AreOneForEachSlot) {
  const std::vector<GanttRow> rows = timeline_rows(attempts(6, 3), 100, name_of_job);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].name, "slot 1");
  ASSERT_EQ(rows[1].spans.size(), 3u);
  EXPECT_EQ(rows[1].spans[1].tip, "job 3");
  EXPECT_EQ(rows[1].spans[1].kind, "failed");
}

// A million would be a picture of a hundred megabytes.
TEST(TimelineRows, OfManyAttemptsHoldNoMoreThanCanBeSeen) {
  const std::vector<GanttRow> rows = timeline_rows(attempts(4000, 2001), 100, name_of_job);
  ASSERT_EQ(rows.size(), 2u);
  ASSERT_EQ(rows[0].spans.size(), 1u);
  EXPECT_EQ(rows[0].spans[0].tip, "2000 attempts: done");
  EXPECT_EQ(rows[0].spans[0].end, 2000);
  ASSERT_EQ(rows[1].spans.size(), 3u);
  EXPECT_EQ(rows[1].spans[0].tip, "1000 attempts: done");
  EXPECT_EQ(rows[1].spans[1].tip, "job 2001");
  EXPECT_EQ(rows[1].spans[2].tip, "999 attempts: done");
}

}  // namespace
}  // namespace lockstep
