#include "tools/jobs/graph/halt_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace lockstep {
namespace {

using How = HaltRule::How;

// After how many of these the rule asks for an end; 0: never.
int due_after(HaltRule rule, const std::vector<JobState>& ends, std::int64_t of) {
  for (std::size_t i = 0; i < ends.size(); ++i) {
    rule.count(ends[i], of);
    if (rule.due() != How::never) return static_cast<int>(i) + 1;
  }
  return 0;
}

const std::vector<JobState> ends{JobState::done,      JobState::skipped, JobState::failed,
                                 JobState::cancelled, JobState::failed,  JobState::done};

TEST(HaltRule, CountsWhatItNames) {
  EXPECT_EQ(due_after(HaltRule("soon,fail=1"), ends, 6), 3);
  EXPECT_EQ(due_after(HaltRule("now,fail=2"), ends, 6), 5);
  EXPECT_EQ(due_after(HaltRule("soon,success=2"), ends, 6), 6);
  EXPECT_EQ(due_after(HaltRule("soon,done=4"), ends, 6), 5) << "cancelled is not over by itself";
  EXPECT_EQ(due_after(HaltRule("soon,fail=3"), ends, 6), 0);
  EXPECT_EQ(due_after(HaltRule("never"), ends, 6), 0);
  EXPECT_EQ(due_after(HaltRule(), ends, 6), 0);
}

TEST(HaltRule, AShareIsOfAllJobs) {
  EXPECT_EQ(due_after(HaltRule("soon,fail=20%"), ends, 10), 5);
  EXPECT_EQ(due_after(HaltRule("soon,fail=20%"), ends, 5), 3);
  EXPECT_EQ(due_after(HaltRule("soon,fail=100%"), ends, 6), 0);
}

TEST(HaltRule, SaysItOnceAndWhy) {
  HaltRule rule("now,fail=2");
  rule.count(JobState::failed, 9);
  EXPECT_EQ(rule.due(), How::never);
  rule.count(JobState::failed, 9);
  EXPECT_EQ(rule.due(), How::now);
  rule.count(JobState::failed, 9);
  EXPECT_EQ(rule.due(), How::never);
  EXPECT_EQ(rule.why(), "3 jobs failed (--halt now,fail=2)");
}

TEST(HaltRule, RefusesWhatItCannotRead) {
  for (const char* const text :
       {"", "now", "now,fail", "fail=1", "now,fail=0", "now,fail=-1", "now,fail=101%", "now,fail=%",
        "later,fail=1", "now,lost=1", "now=fail,1", "now,fail=1.5", "now,fail=9999999999999999999"})
    EXPECT_THROW(HaltRule{text}, Error) << text;
}

}  // namespace
}  // namespace lockstep
