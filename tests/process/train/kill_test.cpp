// kill -9 of everything, again and again, loses no sample and repeats none.
#include "core/base/text/text.h"
#include "fakes/tenths.h"
#include "fakes/tool.h"
#include "runtime/run/events/samples.h"
#include "runtime/run/folder/run_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

namespace lockstep {
namespace {

// Kills ranks and tool, in random order; returns the pids.
std::vector<pid_t> kill_everything(pid_t tool, std::mt19937& random) {
  std::vector<pid_t> victims = testing::children_of(tool);
  victims.push_back(tool);
  std::shuffle(victims.begin(), victims.end(), random);
  for (const pid_t pid : victims) kill(pid, SIGKILL);
  return victims;
}

bool gone(pid_t pid) { return kill(pid, 0) != 0; }

TEST(KillNine, AtTwentyRandomMomentsOnChangingRanksGivesTheUninterruptedSampleList) {
  const TemporaryDirectory folder;
  const auto corpus = folder.path() / "corpus.txt";
  testing::write_corpus(corpus, 9000);
  std::vector<std::string> options = testing::tiny(corpus);
  const std::size_t steps = testing::tenth() < 0 ? 1500 : 400;
  options.insert(options.end(), {cat("stop.steps=", steps), "run.record_samples=true",
                                 "checkpoint.every_steps=5", "checkpoint.keep=2"});
  std::vector<std::string> train{"train", "textgen", "--devices", "cpu:2", "--name", "whole"};
  train.insert(train.end(), options.begin(), options.end());
  const testing::ToolResult whole = testing::run_tool(train, folder.path());
  ASSERT_EQ(whole.code, 0) << whole.err;
  const auto expected = effective_samples(folder.path() / "runs" / "whole");
  ASSERT_EQ(expected.size(), steps);

  train[5] = "cut";
  std::mt19937 random(static_cast<unsigned>(17 + std::max(0, testing::tenth())));
  std::uniform_int_distribution<int> moment_ms(50, 1500);
  int killed = 0;
  const int rounds = testing::share_of_turn(20, 3);
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::string> words = train;
    if (std::filesystem::exists(folder.path() / "runs" / "cut" / "run.json"))
      words = {"resume", "cut", "--devices", "cpu:" + std::to_string(1 + round % 4)};
    else
      std::filesystem::remove_all(folder.path() / "runs" / "cut");
    words.insert(words.begin(), testing::program("lockstep"));
    testing::ToolProcess tool(words, folder.path());
    std::this_thread::sleep_for(std::chrono::milliseconds(moment_ms(random)));
    const std::vector<pid_t> victims = kill_everything(tool.pid(), random);
    if (tool.wait().code == 137) ++killed;
    for (const pid_t pid : victims) {
      for (int i = 0; i < 500 && !gone(pid); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      EXPECT_TRUE(gone(pid));
    }
  }
  EXPECT_GE(killed, rounds * 3 / 4);
  const testing::ToolResult last =
      testing::run_tool({"resume", "cut", "--devices", "cpu:3"}, folder.path());
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(effective_samples(folder.path() / "runs" / "cut"), expected);
}

}  // namespace
}  // namespace lockstep
