// Which jobs may run, by the states of those that they need; beside a model that looks at all of
// them anew each time.
#include "tools/jobs/graph/job_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace lockstep {
namespace {

using Change = JobGraph::Change;
constexpr auto waiting = JobState::waiting, running = JobState::running, done = JobState::done,
               failed = JobState::failed, skipped = JobState::skipped,
               cancelled = JobState::cancelled;

std::string text(const std::vector<Change>& changes) {
  const std::map<Standing, std::string> words{{Standing::settled, "settled"},
                                              {Standing::waits, "waits"},
                                              {Standing::ready, "ready"},
                                              {Standing::never, "never"}};
  std::string all;
  for (const Change& change : changes) {
    all += (all.empty() ? "" : ", ") + std::to_string(change.job) + " " + words.at(change.is);
    if (change.because != 0) all += " because of " + std::to_string(change.because);
  }
  return all;
}

// 3 needs 1 and 2; 4 needs 3.
class Graph : public ::testing::Test {
 protected:
  Graph() {
    for (const std::int64_t job : {1, 2, 3, 4}) graph.add(job, waiting);
    graph.need(3, 1);
    graph.need(3, 2);
    graph.need(3, 2);
    graph.need(4, 3);
    first = text(graph.begin({1, 2, 3, 4}));
  }
  std::string becomes(std::int64_t job, JobState state) {
    return text(graph.set_state(job, state));
  }
  // It ran, and ended so.
  std::string ends(std::int64_t job, JobState state) {
    becomes(job, running);
    return becomes(job, state);
  }
  JobGraph graph;
  std::string first;
};

TEST_F(Graph, AJobIsReadyOnceAllThatItNeedsHasSucceeded) {
  EXPECT_EQ(first, "1 ready, 2 ready, 3 waits, 4 waits");
  EXPECT_EQ(becomes(1, running), "1 settled");
  EXPECT_EQ(becomes(1, done), "");
  EXPECT_EQ(ends(2, done), "3 ready");
  EXPECT_EQ(ends(3, done), "4 ready");
}

TEST_F(Graph, WhatNeedsOneThatDidNotSucceedNeverRunsNorWhatNeedsThat) {
  EXPECT_EQ(ends(1, failed), "3 never because of 1, 4 never because of 3");
  EXPECT_EQ(ends(2, skipped), "") << "it says nothing new";
  EXPECT_EQ(becomes(1, waiting), "1 ready, 3 never because of 2") << "a reason that holds now";
}

TEST_F(Graph, OnesThatAreDoneRunAgainOneAfterTheOther) {
  ends(1, done), ends(2, done), ends(3, done), ends(4, done);
  EXPECT_EQ(becomes(1, waiting), "1 ready");
  EXPECT_EQ(becomes(3, waiting), "3 waits");
  EXPECT_EQ(ends(1, done), "3 ready");
  EXPECT_EQ(becomes(1, waiting), "1 ready, 3 waits") << "it is taken back before it begins";
}

TEST_F(Graph, ARetryOfTheCauseLetsAllBehindItRun) {
  ends(1, done), ends(2, failed);
  EXPECT_EQ(becomes(2, waiting), "2 ready, 3 waits, 4 waits");
  EXPECT_EQ(ends(2, done), "3 ready");
  EXPECT_EQ(becomes(3, cancelled), "3 settled, 4 never because of 3");
}

// Finds how a job stands from the states of all jobs, each time anew.
struct Model {
  std::map<std::int64_t, JobState> states;
  std::map<std::int64_t, std::set<std::int64_t>> needs;

  Standing standing(std::int64_t job) const {
    if (states.at(job) != waiting) return Standing::settled;
    bool ready = true;
    const auto found = needs.find(job);
    if (found == needs.end()) return Standing::ready;
    for (const std::int64_t other : found->second) {
      const JobState state = states.at(other);
      if (standing(other) == Standing::never || (over(state) && !succeeded(state)))
        return Standing::never;
      ready = ready && succeeded(state);
    }
    return ready ? Standing::ready : Standing::waits;
  }
};

TEST(Graphs, AgreeWithAModelAfterAnyChanges) {
  std::mt19937 random(1);
  const auto below = [&](std::size_t count) { return random() % count; };
  constexpr int sequences = 10'000, jobs = 9, steps = 25;
  for (int sequence = 0; sequence < sequences; ++sequence) {
    JobGraph graph;
    Model model;
    std::vector<std::int64_t> order;
    for (std::int64_t job = 1; job <= jobs; ++job) {
      const JobState state = std::array{waiting, waiting, waiting, done, failed}[below(5)];
      graph.add(job, model.states[job] = state);
      order.push_back(job);
      for (std::int64_t other = 1; other < job; ++other)
        if (below(3) == 0) graph.need(job, other), model.needs[job].insert(other);
    }
    std::shuffle(order.begin(), order.end(), random);
    std::map<std::int64_t, Standing> heard;
    const auto hear = [&](const std::vector<Change>& changes) {
      for (const Change& change : changes) {
        ASSERT_EQ(change.was, heard[change.job]);
        heard[change.job] = change.is;
        ASSERT_EQ(change.because != 0, change.is == Standing::never);
      }
    };
    hear(graph.begin(order));
    for (int step = 0; step < steps; ++step) {
      const auto job = static_cast<std::int64_t>(1 + below(jobs));
      const JobState state =
          std::array{waiting, waiting, running, done, failed, skipped, cancelled}[below(7)];
      hear(graph.set_state(job, model.states[job] = state));
      for (std::int64_t each = 1; each <= jobs; ++each) {
        ASSERT_EQ(graph.standing(each), model.standing(each)) << sequence << ", job " << each;
        ASSERT_EQ(heard[each], graph.standing(each)) << sequence << ", job " << each;
      }
    }
  }
}

}  // namespace
}  // namespace lockstep
