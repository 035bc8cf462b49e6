// exact = true: bitwise the same weights whatever the number of ranks, also where it changes.
#include "core/base/hash.h"
#include "fakes/tenths.h"
#include "fakes/tool.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/events/events.h"
#include "runtime/run/folder/run_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::program;
using testing::run_tool;
using testing::ToolProcess;
using testing::ToolResult;

class Exact : public ::testing::Test {
 protected:
  void SetUp() override { testing::write_corpus(corpus, 12000); }

  static constexpr int steps = 24;

  // 24 leaves of one sample.
  std::vector<std::string> train(int ranks, const std::string& name,
                                 const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"train",  "textgen", "--devices", "cpu:" + std::to_string(ranks),
                                   "--name", name};
    for (const std::string& option : testing::tiny(corpus)) words.push_back(option);
    for (const char* option :
         {"exact=true", "batch.global=24", "batch.micro=1", "model.dropout=0.1", "ema.decay=0.9",
          "eval.every_steps=10", "checkpoint.keep=2"})
      words.emplace_back(option);
    words.push_back("stop.steps=" + std::to_string(steps));
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::filesystem::path run(const std::string& name) const { return folder.path() / "runs" / name; }
  void succeeds(const std::vector<std::string>& words) const {
    const ToolResult result = run_tool(words, folder.path());
    ASSERT_EQ(result.code, 0) << result.err;
  }
  // A hash of each file of weights, average and optimizer in the newest checkpoint.
  std::map<std::string, std::string> tensors(const std::string& name) const {
    const auto checkpoint = newest_good(run(name) / "checkpoints");
    if (!checkpoint) return {};
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(checkpoint->path))
      if (entry.path().extension() == ".safetensors")
        files[entry.path().filename()] = std::to_string(hash64(read_file(entry.path())));
    EXPECT_EQ(checkpoint->step, steps) << name;
    return files;
  }
  std::vector<double> losses(const std::string& name) const {
    std::vector<double> all;
    for (const auto& event : effective_events(read_events(run(name) / "events.jsonl"))) {
      if (event.value("kind", "") == "step") all.push_back(event.at("loss"));
      if (event.value("kind", "") == "eval") all.push_back(event.at("metrics").at("loss"));
    }
    return all;
  }
  void expect_same_as_alone(const std::string& name) const {
    EXPECT_EQ(tensors(name), tensors("alone")) << name;  // bytes
    EXPECT_EQ(losses(name), losses("alone")) << name;
  }

  TemporaryDirectory folder;
  std::filesystem::path corpus = folder.path() / "corpus.txt";
};

TEST_F(Exact, GivesTheSameBytesOnAnyNumberOfRanks) {
  succeeds(train(1, "alone"));
  ASSERT_GE(tensors("alone").size(), 1U);
  for (const int ranks : {2, 3, 4, 6, 8}) {
    const std::string name = "r" + std::to_string(ranks);
    succeeds(train(ranks, name));
    expect_same_as_alone(name);
  }
  // The comparison can tell: another seed gives other bytes, and so do other sums.
  succeeds(train(1, "seed", {"seed=43"}));
  EXPECT_NE(tensors("seed"), tensors("alone"));
  succeeds(train(1, "leaf_samples", {"batch.micro=2"}));
  EXPECT_NE(tensors("leaf_samples"), tensors("alone"));
}

TEST_F(Exact, GivesTheSameBytesAfterStopsAndOnChangingNumbersOfRanks) {
  if (!testing::has_turn_twice(3)) GTEST_SKIP() << testing::in_another_tenth;
  succeeds(train(1, "alone"));
  succeeds(train(2, "cut", {"stop.steps=5", "schedule.kind=constant"}));
  succeeds(train(1, "whole", {"schedule.kind=constant"}));
  int until = 5;
  for (const int ranks : {3, 8, 1, 6, 4}) {
    until = ranks == 4 ? steps : until + 4;
    succeeds({"resume", "cut", "--devices", "cpu:" + std::to_string(ranks),
              "stop.steps=" + std::to_string(until)});
  }
  EXPECT_EQ(tensors("cut"), tensors("whole"));
  EXPECT_NE(tensors("whole"), tensors("alone"));  // another schedule

  // Stopped by a signal, wherever that is.
  std::vector<std::string> words = train(4, "stopped");
  words.insert(words.begin(), program("lockstep"));
  ToolProcess first(words, folder.path());
  const std::filesystem::path events = run("stopped") / "events.jsonl";
  for (int i = 0; i < 1000 && (!std::filesystem::exists(events) || losses("stopped").size() < 3);
       ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(first.pid(), SIGINT);
  const ToolResult stopped = first.wait();
  ASSERT_EQ(stopped.code, 75) << stopped.err;
  succeeds({"resume", "stopped", "--devices", "cpu:3"});
  expect_same_as_alone("stopped");
}

TEST_F(Exact, TheRunKeepsItsGrain) {
  succeeds(train(2, "a", {"stop.steps=2"}));
  const auto checkpoint = newest_good(run("a") / "checkpoints");
  ASSERT_TRUE(checkpoint);
  const auto refuses = [&](const std::vector<std::string>& options, const std::string& what) {
    std::vector<std::string> words{"resume", "a", "stop.steps=3"};
    words.insert(words.end(), options.begin(), options.end());
    const ToolResult result = run_tool(words, folder.path());
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(what));
    EXPECT_THAT(result.err, HasSubstr("\n\nhint: "));
  };
  refuses({"batch.micro=2", "--devices", "cpu:2"}, "batch.micro cannot change");
  refuses({"exact=false", "--devices", "cpu:2"}, "exact cannot change");
  refuses({"--devices", "cpu:5"}, "use 1, 2, 3, 4, 6, 8 or 12 ranks");
  succeeds({"resume", "a", "stop.steps=3", "--devices", "cpu:4"});
  EXPECT_EQ(
      RunDir::open("a", folder.path() / "runs").record().at("plan").at("exact").at("leaf_samples"),
      1);
}

TEST_F(Exact, ThePlanShowsGrainPartialSumsAndBytes) {
  std::vector<std::string> words = train(2, "a");
  words[0] = "plan";
  words.erase(words.begin() + 4, words.begin() + 6);
  ToolResult result = run_tool(words, folder.path());
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      HasSubstr(
          "leaf 1, 24 leaves per step, 2 partial sums per CPU rank, which\n               sends "));
  EXPECT_THAT(result.out, HasSubstr("KiB"));
  words[3] = "cpu:8";
  result = run_tool(words, folder.path());
  EXPECT_THAT(result.out, HasSubstr("24 leaves per step, 2 partial sums"));
  words.emplace_back("batch.micro=3");
  result = run_tool(words, folder.path());
  EXPECT_THAT(result.out, HasSubstr("leaf 3, 8 leaves per step, 1 partial sum per "));
  words.emplace_back("exact=false");
  result = run_tool(words, folder.path());
  EXPECT_THAT(result.out, Not(HasSubstr("leaf_samples")));
}

TEST_F(Exact, RefusesWhatItCannotKeep) {
  const auto refuses = [&](const std::string& option, const std::string& what) {
    const ToolResult result = run_tool(train(2, "bad", {option}), folder.path());
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(what));
    EXPECT_THAT(result.err, HasSubstr("\n\nhint: "));
    EXPECT_FALSE(std::filesystem::exists(run("bad")));
  };
  refuses("shard_optimizer=true", "exact = true and shard_optimizer = true exclude each other");
  refuses("reduce_precision=bf16", "reduce_precision is bf16");
}

}  // namespace
}  // namespace lockstep
