// A random rank is killed at a random moment, again and again, on changing numbers of ranks: the
// run ends in seconds and names it, nothing survives, and no sample is lost or repeated.
// LOCKSTEP_CHAOS_KILLS (12) and LOCKSTEP_CHAOS_SEED (1) say how often and which moments.
#include "core/base/clock.h"
#include "fakes/tenths.h"
#include "fakes/tool.h"
#include "runtime/run/events/samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <random>
#include <thread>

namespace lockstep {
namespace {

using testing::number_from;

struct Kill {
  bool hit = false;  // there was a rank to kill
  double ended_s = 0;
};

// Starts `words`, kills one of its ranks after `moment`, and looks at how it ends.
Kill kill_one(const std::vector<std::string>& words, const std::filesystem::path& folder,
              std::chrono::milliseconds moment, std::mt19937& random) {
  testing::ToolProcess tool(words, folder);
  std::this_thread::sleep_for(moment);
  std::vector<pid_t> ranks = testing::ranks_of(tool.pid());
  for (int i = 0; i < 300 && ranks.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ranks = testing::ranks_of(tool.pid());
  }
  Kill result;
  if (ranks.empty()) {
    kill(tool.pid(), SIGKILL);
    tool.wait();
    return result;
  }
  const std::size_t victim = random() % ranks.size();
  const double begin_s = system_clock().now_s();
  result.hit = kill(ranks[victim], SIGKILL) == 0;
  const testing::ToolResult end = tool.wait();
  result.ended_s = system_clock().now_s() - begin_s;
  EXPECT_EQ(end.code, 1) << end.err;
  EXPECT_NE(end.err.find("failed: killed by signal 9"), std::string::npos) << end.err;
  for (const pid_t rank : ranks) EXPECT_NE(kill(rank, 0), 0) << "a rank survived";
  return result;
}

TEST(Chaos, KillsOfARandomRankAtARandomMomentLoseNothing) {
  const int kills = number_from("LOCKSTEP_CHAOS_KILLS", testing::share_of_turn(12, 2));
  const int seed = number_from("LOCKSTEP_CHAOS_SEED", 1 + std::max(0, testing::tenth()));
  const TemporaryDirectory folder;
  const auto corpus = folder.path() / "corpus.txt";
  testing::write_corpus(corpus, 9000);
  std::vector<std::string> options = testing::tiny(corpus);
  options.insert(options.end(),
                 {"run.record_samples=true", "schedule.kind=constant", "checkpoint.every_steps=50",
                  "checkpoint.keep=2", "eval.every_steps=120"});
  std::vector<std::string> train{
      testing::program("lockstep"), "train", "textgen", "--devices", "cpu:2", "--name", "cut"};
  train.insert(train.end(), options.begin(), options.end());

  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<double> ended_s;
  for (int round = 0; round < kills; ++round) {
    std::vector<std::string> words = train;
    words.emplace_back("stop.steps=1000000");
    if (std::filesystem::exists(folder.path() / "runs/cut/run.json"))
      words = {testing::program("lockstep"), "resume", "cut", "--devices",
               "cpu:" + std::to_string(2 + random() % 3)};
    const Kill one =
        kill_one(words, folder.path(), std::chrono::milliseconds(random() % 2500), random);
    if (one.hit) ended_s.push_back(one.ended_s);
  }
  ASSERT_GE(ended_s.size(), static_cast<std::size_t>(std::max(1, kills * 9 / 10)));
  std::sort(ended_s.begin(), ended_s.end());
  const double median_s = ended_s[ended_s.size() / 2], worst_s = ended_s.back();
  std::printf("chaos: seed %d, %zu kills, median %.3f s, worst %.3f s until all had ended\n", seed,
              ended_s.size(), median_s, worst_s);
  EXPECT_LT(median_s, 1);
  EXPECT_LT(worst_s, 5);

  // To the end once more; then the same without a kill.
  const auto reached = effective_samples(folder.path() / "runs/cut").size();
  const std::string steps = "stop.steps=" + std::to_string(reached + 100);
  const testing::ToolResult last =
      testing::run_tool({"resume", "cut", "--devices", "cpu:3", steps}, folder.path());
  ASSERT_EQ(last.code, 0) << last.err;
  train[6] = "whole";
  train.erase(train.begin());
  train.push_back(steps);
  ASSERT_EQ(testing::run_tool(train, folder.path()).code, 0);
  EXPECT_EQ(effective_samples(folder.path() / "runs/cut"),
            effective_samples(folder.path() / "runs/whole"));
}

}  // namespace
}  // namespace lockstep
