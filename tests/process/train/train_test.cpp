// Whole runs with the real tool and real ranks.
#include "fakes/tool.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/events/events.h"
#include "runtime/run/events/samples.h"
#include "runtime/run/folder/run_dir.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <random>
#include <thread>

namespace lockstep {
namespace {

using testing::operator+;
using testing::program;
using testing::run_tool;
using testing::tiny;
using testing::ToolProcess;
using testing::ToolResult;

class Train : public ::testing::Test {
 protected:
  void SetUp() override { testing::write_corpus(corpus, 12000); }

  std::vector<std::string> train(int ranks, const std::string& name, int steps) const {
    return std::vector<std::string>{
               "train", "textgen", "--devices", "cpu:" + std::to_string(ranks), "--name", name} +
           tiny(corpus) +
           std::vector<std::string>{"stop.steps=" + std::to_string(steps),
                                    "run.record_samples=true"};
  }
  std::filesystem::path run(const std::string& name) const { return folder.path() / "runs" / name; }
  std::vector<double> losses(const std::string& name) const {
    std::vector<double> all;
    for (const auto& event : effective_events(read_events(run(name) / "events.jsonl")))
      if (event.value("kind", "") == "step") all.push_back(event.at("loss"));
    return all;
  }

  std::size_t losses_so_far(const std::string& name) const {
    const std::filesystem::path events = run(name) / "events.jsonl";
    return std::filesystem::exists(events) ? losses(name).size() : 0;
  }

  TemporaryDirectory folder;
  std::filesystem::path corpus = folder.path() / "corpus.txt";
};

TEST_F(Train, GivesTheSameCurveAndSamplesOnAnyNumberOfRanks) {
  std::vector<double> one;
  std::vector<std::vector<std::int64_t>> samples;
  for (const int ranks : {1, 2, 3, 4}) {
    const std::string name = "r" + std::to_string(ranks);
    const ToolResult result = run_tool(train(ranks, name, 100), folder.path());
    ASSERT_EQ(result.code, 0) << result.err;
    const std::vector<double> curve = losses(name);
    ASSERT_EQ(curve.size(), 100U);
    if (ranks == 1) {
      one = curve;
      samples = effective_samples(run(name));
      ASSERT_EQ(samples.size(), 100U);
      EXPECT_LT(curve.back(), curve.front() - 0.5);
      continue;
    }
    EXPECT_EQ(effective_samples(run(name)), samples);
    for (std::size_t i = 0; i < curve.size(); ++i)
      EXPECT_LE(std::abs(curve[i] - one[i]), 1e-4 * one[i]) << ranks << " ranks, step " << i + 1;
  }
}

// Gloo has no reduce-scatter.
TEST_F(Train, SaysHowCpuRanksThatShareTheUpdateSumGradients) {
  std::vector<std::string> words = train(2, "s", 1);
  words.emplace_back("shard_optimizer=true");
  ASSERT_EQ(run_tool(words, folder.path()).code, 0);
  EXPECT_NE(read_file(run("s") / "logs" / "train.log")
                .find("\ngradients: all-reduce over 2 ranks by Gloo, "),
            std::string::npos);
}

TEST_F(Train, EndsInFinishedWithACheckpointAndLogs) {
  ASSERT_EQ(run_tool(train(2, "a", 5), folder.path()).code, 0);
  EXPECT_NE(read_file(run("a") / "logs" / "train.log")
                .find("\ngradients: all-reduce over 2 ranks by Gloo, "),
            std::string::npos);
  EXPECT_EQ(RunDir::open("a", folder.path() / "runs").state(), RunState::finished);
  const auto checkpoint = newest_good(run("a") / "checkpoints");
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->step, 5);
  EXPECT_TRUE(std::filesystem::exists(run("a") / "logs" / "rank1.log"));
}

TEST_F(Train, KeepsWhatItSaidInALogThatCanBeFollowed) {
  const ToolResult first = run_tool(train(1, "a", 3), folder.path());
  ASSERT_EQ(first.code, 0) << first.err;
  const ToolResult resumed =
      run_tool({"resume", "a", "stop.steps=4", "--devices", "cpu:1"}, folder.path());
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const std::string log = read_file(run("a") / "logs" / "train.log");
  EXPECT_TRUE(log.starts_with("--- started 20")) << log;
  const std::size_t second = log.find("\n--- resumed 20");
  ASSERT_NE(second, std::string::npos) << log;
  // What stood on the terminal.
  for (const std::string line :
       {"global batch   12", "checkpoint at step 3", "try next:", "step 3/3"}) {
    EXPECT_NE(first.err.find(line), std::string::npos) << line << " in " << first.err;
    EXPECT_LT(log.find(line), second) << line << " in " << log;
  }
  EXPECT_NE(log.find("step 4/4", second), std::string::npos) << log;
  const ToolResult followed = run_tool({"runs", "a", "--follow"}, folder.path());
  EXPECT_EQ(followed.code, 0);
  EXPECT_EQ(followed.out, log);
  EXPECT_EQ(followed.err, "run a: finished\n");
  std::filesystem::remove(run("a") / "logs" / "train.log");
  EXPECT_NE(
      run_tool({"runs", "a", "--follow"}, folder.path()).err.find("run a has no logs/train.log"),
      std::string::npos);
}

TEST_F(Train, SaysWhatTheStartUpWasSpentOn) {
  const auto begin = std::chrono::steady_clock::now();
  const ToolResult result = run_tool(train(2, "a", 2), folder.path());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  ASSERT_EQ(result.code, 0);
  EXPECT_NE(result.err.find("start-up "), std::string::npos) << result.err;
  for (const bool resumed : {false, true}) {
    if (resumed)
      ASSERT_EQ(run_tool({"resume", "a", "stop.steps=3", "--devices", "cpu:1"}, folder.path()).code,
                0);
    nlohmann::json event;
    for (const auto& each : read_events(run("a") / "events.jsonl"))
      if (each.at("kind") == "startup") event = each;
    ASSERT_FALSE(event.is_null());
    std::vector<std::string> names;
    double sum = 0;
    for (const auto& part : event.at("parts")) {
      names.push_back(part[0]);
      EXPECT_GE(part[1].get<double>(), 0) << part;
      sum += part[1].get<double>();
    }
    std::vector<std::string> expected{"tool", "worker", "devices", "model", "data"};
    if (resumed) expected.push_back("resume");
    expected.push_back("first_step");
    EXPECT_EQ(names, expected);
    EXPECT_NEAR(sum, event.at("seconds").get<double>(), 1e-6);
    if (!resumed) EXPECT_LT(sum, took.count());
    EXPECT_EQ(event.at("step"), resumed ? 3 : 1);
  }
}

TEST_F(Train, SaysHowFastItWasAndWhyUtilisationIsUnknown) {
  const ToolResult result = run_tool(train(2, "a", 5), folder.path());
  ASSERT_EQ(result.code, 0);
  EXPECT_NE(result.err.find(" tok/s  MFU unknown"), std::string::npos) << result.err;
  for (const auto& event : read_events(run("a") / "events.jsonl")) {
    const std::string kind = event.at("kind");
    if (kind == "start") {
      EXPECT_EQ(event.at("mfu_unknown"), "no peak is known for CPUs");
      EXPECT_GT(event.at("flops_per_step").get<double>(), 0);
      EXPECT_TRUE(event.at("peak_flops").is_null());
    }
    if (kind == "step" || kind == "end") {
      EXPECT_GT(event.at("units_per_s").get<double>(), 0);
      EXPECT_TRUE(event.at("mfu").is_null());
    }
    if (kind == "step") {
      EXPECT_EQ(event.at("rank_wait_shares").size(), 2U);
    }
  }
  const ToolResult page = run_tool({"runs", "a"}, folder.path());
  EXPECT_NE(page.out.find("unknown: no peak is known for CPUs"), std::string::npos) << page.out;
}

TEST_F(Train, StopsAtAStepBoundaryAndGoesOnToTheSameCurveOnAnotherNumberOfRanks) {
  ASSERT_EQ(run_tool(train(1, "whole", 60), folder.path()).code, 0);
  ToolProcess first(std::vector<std::string>{program("lockstep")} + train(2, "cut", 60) +
                        std::vector<std::string>{"run.root=runs"},
                    folder.path());
  for (int i = 0; i < 400 && losses_so_far("cut") < 5; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(first.pid(), SIGINT);
  const ToolResult stopped = first.wait();
  if (stopped.code == 75) {  // a fast machine may have finished first
    EXPECT_EQ(RunDir::open("cut", folder.path() / "runs").state(), RunState::stopped);
    const ToolResult resumed = run_tool({"resume", "cut", "--devices", "cpu:3"}, folder.path());
    ASSERT_EQ(resumed.code, 0) << resumed.err;
  } else {
    ASSERT_EQ(stopped.code, 0) << stopped.err;
  }
  EXPECT_EQ(effective_samples(run("cut")), effective_samples(run("whole")));
  const auto a = losses("whole"), b = losses("cut");
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_LE(std::abs(a[i] - b[i]), 1e-4 * a[i]);
}

TEST_F(Train, AveragesTheWeightsAlikeOnAnyNumberOfRanksAndAcrossAResume) {
  const std::vector<std::string> constant{"schedule.kind=constant"};
  const auto options = constant + std::vector<std::string>{"ema.decay=0.9", "eval.every_steps=7"};
  ASSERT_EQ(run_tool(train(1, "whole", 40) + options, folder.path()).code, 0);
  ASSERT_EQ(run_tool(train(1, "without", 40) + constant, folder.path()).code, 0);
  // Showing the average leaves no trace.
  const auto shown = losses("whole"), without = losses("without");
  ASSERT_EQ(shown.size(), without.size());
  for (std::size_t i = 0; i < shown.size(); ++i)
    EXPECT_NEAR(shown[i], without[i], 1e-5 * without[i]);  // products of fp32 may add otherwise
  ASSERT_EQ(run_tool(train(2, "cut", 20) + options, folder.path()).code, 0);
  const ToolResult resumed =
      run_tool({"resume", "cut", "--devices", "cpu:3", "stop.steps=40"}, folder.path());
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const auto loss = [&](const std::string& name, const std::string& option) {
    const ToolResult result =
        run_tool({"evaluate", name, "--devices", "cpu:2", "--json", option}, folder.path());
    EXPECT_EQ(result.code, 0) << result.err;
    return nlohmann::json::parse(result.out).at("metrics").at("loss").get<double>();
  };
  const double average = loss("whole", "ema.evaluate=true");
  EXPECT_NEAR(loss("cut", "ema.evaluate=true"), average, 1e-4 * average);
  EXPECT_GT(std::abs(loss("whole", "ema.evaluate=false") - average), 1e-3 * average);
  for (const auto& event : read_events(run("whole") / "events.jsonl")) {
    if (event.value("kind", "") != "eval" || event.value("step", 0) != 40) continue;
    EXPECT_NEAR(event.at("metrics").at("loss").get<double>(), average, 1e-6);
  }
}

TEST_F(Train, SharesTheUpdateOverAnyNumberOfRanksWithTheSameCurve) {
  const std::vector<std::string> options{"schedule.kind=constant", "ema.decay=0.9",
                                         "optimizer.clip=0.5", "eval.every_steps=5"};
  const std::vector<std::string> shared{"shard_optimizer=true"};
  ASSERT_EQ(run_tool(train(1, "whole", 24) + options, folder.path()).code, 0);
  const std::vector<double> whole = losses("whole");
  const auto expect_same = [&](const std::string& name) {
    const std::vector<double> curve = losses(name);
    ASSERT_EQ(curve.size(), whole.size()) << name;
    for (std::size_t i = 0; i < curve.size(); ++i)
      EXPECT_LE(std::abs(curve[i] - whole[i]), 1e-4 * whole[i]) << name << ", step " << i + 1;
  };
  for (const int ranks : {1, 2, 3, 4}) {
    const std::string name = "shared" + std::to_string(ranks);
    const ToolResult result = run_tool(train(ranks, name, 24) + options + shared, folder.path());
    ASSERT_EQ(result.code, 0) << result.err;
    expect_same(name);
  }
  // Begun shared on three ranks, gone on without on two, ended shared on four.
  ASSERT_EQ(run_tool(train(3, "cut", 8) + options + shared, folder.path()).code, 0);
  const ToolResult second =
      run_tool({"resume", "cut", "--devices", "cpu:2", "stop.steps=16", "shard_optimizer=false"},
               folder.path());
  ASSERT_EQ(second.code, 0) << second.err;
  const ToolResult third =
      run_tool({"resume", "cut", "--devices", "cpu:4", "stop.steps=24", "shard_optimizer=true"},
               folder.path());
  ASSERT_EQ(third.code, 0) << third.err;
  expect_same("cut");
}

TEST_F(Train, KeepsItsMicroBatchWhereItCan) {
  const std::vector<std::string> sizes{"batch.micro=2"};
  ASSERT_EQ(run_tool(train(2, "a", 2) + sizes, folder.path()).code, 0);
  const auto resume = [&](int ranks, int steps) {
    const ToolResult result = run_tool({"resume", "a", "--devices", "cpu:" + std::to_string(ranks),
                                        "stop.steps=" + std::to_string(steps)},
                                       folder.path());
    EXPECT_EQ(result.code, 0) << result.err;
    return result.err;
  };
  const auto config = [&] {
    return RunDir::open("a", folder.path() / "runs").record().at("config");
  };
  const std::string same = resume(2, 3);
  EXPECT_NE(same.find("12 = 2 CPU ranks x micro-batch 2 x accumulation 3"), std::string::npos)
      << same;
  EXPECT_EQ(same.find("is not kept"), std::string::npos) << same;
  EXPECT_EQ(config().at("batch.micro"), 2);
  const std::string fewer = resume(1, 4);
  EXPECT_NE(fewer.find("12 = 1 CPU rank x micro-batch 2 x accumulation 6"), std::string::npos)
      << fewer;
  const std::string odd = resume(4, 5);
  EXPECT_NE(odd.find("12 = 4 CPU ranks x micro-batch 3 x accumulation 1"), std::string::npos)
      << odd;
  EXPECT_NE(odd.find("the run's batch.micro=2 is not kept:"), std::string::npos) << odd;
  EXPECT_EQ(config().at("batch.micro"), 0);
}

TEST_F(Train, KeepsTheMicroBatchThatAnAccumulationLedTo) {
  std::vector<std::string> words =
      train(2, "a", 2) + std::vector<std::string>{"batch.accumulation=3"};
  ASSERT_EQ(run_tool(words, folder.path()).code, 0);
  const ToolResult plain =
      run_tool({"resume", "a", "--devices", "cpu:2", "stop.steps=3"}, folder.path());
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_NE(plain.err.find("micro-batch 2 x accumulation 3"), std::string::npos) << plain.err;
  // The choice is open again only for who asks for it.
  const ToolResult open = run_tool(
      {"resume", "a", "--devices", "cpu:2", "stop.steps=4", "batch.micro=0"}, folder.path());
  ASSERT_EQ(open.code, 0) << open.err;
  EXPECT_NE(open.err.find("micro-batch 6 x accumulation 1"), std::string::npos) << open.err;
}

TEST_F(Train, SavesByTimeWhereRanksShareTheUpdate) {
  ASSERT_EQ(run_tool(train(2, "timed", 150) +
                         std::vector<std::string>{"shard_optimizer=true", "checkpoint.every=0.2s"},
                     folder.path())
                .code,
            0);
  int checkpoints = 0;
  for (const auto& event : read_events(run("timed") / "events.jsonl"))
    checkpoints += event.value("kind", "") == "checkpoint" ? 1 : 0;
  EXPECT_GE(checkpoints, 2);
}

TEST_F(Train, HasTheSameCurveToTheBitWhereBlocksAreComputedAgain) {
  const std::vector<std::string> options{"model.layers=3", "model.dropout=0.1"};
  ASSERT_EQ(run_tool(train(2, "kept", 20) + options, folder.path()).code, 0);
  const ToolResult again = run_tool(
      train(2, "again", 20) + options + std::vector<std::string>{"memory.recompute=blocks"},
      folder.path());
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("activations of 3 of 3 blocks are computed again"), std::string::npos)
      << again.err;
  EXPECT_EQ(losses("again"), losses("kept"));
}

}  // namespace
}  // namespace lockstep
