// Memory that runs out in the middle of a run, on any rank and in any phase: every rank drops the
// step, takes smaller micro-batches and repeats it; no deadlock, no sample lost or repeated.
#include "checkout_paths.h"
#include "fakes/tenths.h"
#include "fakes/tool.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/events/events.h"
#include "runtime/run/events/samples.h"
#include "runtime/run/folder/run_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using testing::run_tool;
using testing::ToolResult;
using Words = std::vector<std::string>;

class OutOfMemory : public ::testing::Test {
 protected:
  int samples = 400;

  ToolResult train(int ranks, const std::string& name, const std::string& faults,
                   const Words& more = {}) const {
    Words words{"train",
                "faulty",
                "--plugin",
                std::string(LOCKSTEP_BUILD_DIR) + "/tests/libfaulty-plugin.so",
                "--devices",
                "cpu:" + std::to_string(ranks),
                "--name",
                name,
                "stop.steps=40",
                "schedule.kind=constant",
                "run.record_samples=true",
                "data.threads=1"};
    words.insert(words.end(), more.begin(), more.end());
    return run_tool(
        words, folder.path(),
        {{"LOCKSTEP_TEST_FAULTS", faults}, {"LOCKSTEP_TEST_SAMPLES", std::to_string(samples)}});
  }
  std::filesystem::path run(const std::string& name) const { return folder.path() / "runs" / name; }
  std::vector<nlohmann::json> events(const std::string& name, const std::string& kind) const {
    std::vector<nlohmann::json> all;
    for (const auto& event : effective_events(read_events(run(name) / "events.jsonl")))
      if (event.value("kind", "") == kind) all.push_back(event);
    return all;
  }
  std::vector<double> losses(const std::string& name) const {
    std::vector<double> all;
    for (const auto& event : events(name, "step")) all.push_back(event.at("loss"));
    return all;
  }
  void expect_same_run(const std::string& name, const std::string& whole) const {
    EXPECT_EQ(effective_samples(run(name)), effective_samples(run(whole))) << name;
    const auto a = losses(name), b = losses(whole);
    ASSERT_EQ(a.size(), b.size()) << name;
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_LE(std::abs(a[i] - b[i]), 1e-4 * b[i]) << name << ", step " << i + 1;
  }

  TemporaryDirectory folder;
};

TEST_F(OutOfMemory, InEachPhaseOnEachRankRepeatsTheStepInSmallerMicroBatches) {
  ASSERT_EQ(train(2, "whole", "").code, 0);
  for (const std::string phase : {"forward", "backward"})
    for (const int rank : {0, 1}) {
      const std::string name = phase + std::to_string(rank);
      const ToolResult result = train(2, name, phase + " 7 " + std::to_string(rank));
      ASSERT_EQ(result.code, 0) << result.err;
      EXPECT_THAT(result.err, HasSubstr("out of memory on rank " + std::to_string(rank) +
                                        " (cpu:" + std::to_string(rank) + ") in " + phase +
                                        ": micro-batch 32 -> 16, accumulation 1 -> 2; step 8 is "
                                        "repeated with the same samples"));
      expect_same_run(name, "whole");
      ASSERT_EQ(events(name, "memory").size(), 1U);
      EXPECT_EQ(events(name, "memory")[0].at("step"), 7);
    }
  // On all ranks at once, in different phases.
  const ToolResult result = train(2, "both", "forward 7 0;backward 7 1");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("on rank 0 (cpu:0) in forward, rank 1 (cpu:1) in backward"));
  expect_same_run("both", "whole");
}

TEST_F(OutOfMemory, AgainAndAgainUntilItFits) {
  ASSERT_EQ(train(2, "whole", "").code, 0);
  const ToolResult result = train(2, "small", "forward 3 1 5", {"reduce_precision=fp32"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("micro-batch 8 -> 4, accumulation 4 -> 8"));
  EXPECT_EQ(events("small", "memory").size(), 3U);
  expect_same_run("small", "whole");
}

TEST_F(OutOfMemory, AtTheFirstAndAtTheLastStep) {
  ASSERT_EQ(train(2, "whole", "").code, 0);
  const ToolResult result = train(2, "ends", "backward 0 0;forward 39 1");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(events("ends", "memory").size(), 2U);
  expect_same_run("ends", "whole");
}

TEST_F(OutOfMemory, TheRecordedScheduleReplaysToTheSameBits) {
  ASSERT_EQ(train(2, "failed", "forward 7 1;backward 20 0").code, 0);
  std::string changes;
  for (const auto& event : events("failed", "memory"))
    changes +=
        (changes.empty() ? "" : ",") + event.at("step").dump() + ":" + event.at("micro").dump();
  EXPECT_EQ(changes, "7:16,20:8");
  const ToolResult page = run_tool({"runs", "failed"}, folder.path());
  EXPECT_THAT(page.out, HasSubstr("batch.micro_changes=7:16,20:8"));
  ASSERT_EQ(train(2, "replay", "", {"batch.micro_changes=" + changes}).code, 0);
  EXPECT_EQ(losses("replay"), losses("failed"));
  EXPECT_THAT(run_tool({"runs", "replay"}, folder.path()).out,
              HasSubstr("batch.micro_changes=7:16,20:8"));
  EXPECT_EQ(effective_samples(run("replay")), effective_samples(run("failed")));
}

TEST_F(OutOfMemory, ARunThatGoesOnKeepsTheSmallerMicroBatch) {
  ASSERT_EQ(train(2, "whole", "").code, 0);
  ASSERT_EQ(train(2, "cut", "forward 7 1 20", {"stop.steps=20"}).code, 0);
  ASSERT_EQ(events("cut", "memory").size(), 1U);
  const ToolResult resumed = run_tool({"resume", "cut", "--devices", "cpu:2", "stop.steps=40"},
                                      folder.path(), {{"LOCKSTEP_TEST_FAULTS", "forward 0 1 20"}});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("micro-batch 16 x accumulation 2"));
  EXPECT_EQ(events("cut", "memory").size(), 1U);
  expect_same_run("cut", "whole");
}

TEST_F(OutOfMemory, AMicroBatchThatIsTypedAgainStands) {
  if (!testing::has_turn_twice(2)) GTEST_SKIP() << testing::in_another_tenth;
  ASSERT_EQ(train(2, "typed", "forward 7 1", {"stop.steps=10", "batch.micro=32"}).code, 0);
  ASSERT_EQ(events("typed", "memory").size(), 1U);
  const auto resume = [&](const std::string& steps, const Words& more) {
    Words words{"resume", "typed", "--devices", "cpu:2", "stop.steps=" + steps};
    words.insert(words.end(), more.begin(), more.end());
    const ToolResult result = run_tool(words, folder.path());
    EXPECT_EQ(result.code, 0) << result.err;
    return result.err;
  };
  const auto kept = HasSubstr("micro-batch 16 x accumulation 2");
  const auto asked = HasSubstr("micro-batch 32 x accumulation 1");
  EXPECT_THAT(resume("11", {}), kept);
  EXPECT_THAT(resume("12", {"batch.micro=32"}), asked) << "what the record says too";
  EXPECT_THAT(resume("13", {}), asked) << "memory sufficed";
}

TEST_F(OutOfMemory, NoChangeLeadsAResumedRunBackToWhatRanOut) {
  ASSERT_EQ(train(2, "changed", "forward 7 1 10",
                  {"stop.steps=10", "batch.micro=32", "batch.micro_changes=2:16,12:16"})
                .code,
            0);
  ASSERT_EQ(events("changed", "memory").size(), 1U);
  const ToolResult resumed =
      run_tool({"resume", "changed", "--devices", "cpu:2", "stop.steps=14"}, folder.path());
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("micro-batch 8 x accumulation 4"));
  const auto changes = events("changed", "micro");
  ASSERT_EQ(changes.size(), 1U) << "16 after step 2 alone";
  EXPECT_EQ(changes[0].at("step"), 2);
}

TEST_F(OutOfMemory, InEvaluationJudgesFewerAtOnce) {
  ASSERT_EQ(train(2, "whole", "", {"eval.every_steps=10"}).code, 0);
  const ToolResult result = train(2, "eval", "evaluation 0 1 5", {"eval.every_steps=10"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("out of memory on rank 1 (cpu:1) in evaluation: evaluation of 4 "
                        "samples at once instead of 32"));
  EXPECT_EQ(events("eval", "memory").size(), 1U);  // it stays small
  const auto a = events("eval", "eval"), b = events("whole", "eval");
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i]["metrics"]["squared_error"].get<double>(),
                b[i]["metrics"]["squared_error"].get<double>(), 1e-6);
}

// A rank that has no memory for its part may not leave the others waiting for it.
TEST_F(OutOfMemory, InASaveLeavesThatCheckpointOutAndTheRunGoesOn) {
  for (const bool shared : {false, true})
    for (const int rank : {0, 1}) {
      if (!shared && rank == 1) continue;  // it saves nothing
      const std::string name = (shared ? "shared" : "alone") + std::to_string(rank);
      const ToolResult result =
          train(2, name, "saving 20 " + std::to_string(rank),
                {"checkpoint.every_steps=10", "checkpoint.keep_best=false", "ema.decay=0.9",
                 shared ? "shard_optimizer=true" : "shard_optimizer=false"});
      ASSERT_EQ(result.code, 0) << result.err;
      EXPECT_THAT(result.err, HasSubstr("no checkpoint at step 20"));
      EXPECT_THAT(result.err, HasSubstr("memory ran out"));
      ASSERT_EQ(events(name, "checkpoint_failed").size(), 1U);
      EXPECT_EQ(events(name, "checkpoint_failed")[0].at("step"), 20);
      std::vector<std::int64_t> steps;
      for (const CheckpointInfo& info : list_checkpoints(run(name) / "checkpoints", true))
        if (info.damage.empty()) steps.push_back(info.step);
      EXPECT_EQ(steps, (std::vector<std::int64_t>{10, 30, 40}));
      EXPECT_TRUE(events(name, "memory").empty());
    }
}

// One sample at a time is too much still: then less is kept of it, once.
TEST_F(OutOfMemory, WithRecomputationByNeedASampleThatDoesNotFitIsComputedAgain) {
  if (!testing::has_turn_twice(1)) GTEST_SKIP() << testing::in_another_tenth;
  ASSERT_EQ(train(2, "whole", "").code, 0);
  const Words by_need{"memory.recompute=auto", "batch.micro=1"};
  const ToolResult result = train(2, "less", "forward 7 1", by_need);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("out of memory on rank 1 (cpu:1) in forward: all blocks of the "
                                    "model are computed again in backward from now on "
                                    "(memory.recompute = auto); step 8 is repeated with the same "
                                    "samples"));
  ASSERT_EQ(events("less", "memory").size(), 1U);
  EXPECT_EQ(events("less", "memory")[0].at("recompute"), true);
  expect_same_run("less", "whole");
  const ToolResult twice = train(2, "twice", "forward 7 1;forward 9 1", by_need);
  EXPECT_NE(twice.code, 0);
  EXPECT_THAT(twice.err,
              HasSubstr("out of memory on rank 1 (cpu:1) in forward with micro-batch 1"));
}

TEST_F(OutOfMemory, WhatNeverFitsIsAnErrorWithNumbers) {
  for (const std::string faults : {"forward 3 1 0;forward 3 1 0;forward 3 1 0;forward 3 1 0;"
                                   "forward 3 1 0;forward 3 1 0"}) {
    const ToolResult result = train(2, "never", faults);
    EXPECT_NE(result.code, 0);
    EXPECT_THAT(result.err,
                HasSubstr("out of memory on rank 1 (cpu:1) in forward with micro-batch 1: "
                          "no memory, by request"));
    EXPECT_THAT(result.err, HasSubstr("what would help: "));
    EXPECT_THAT(result.err, HasSubstr("precision=bf16"));
  }
  const ToolResult exact = train(2, "exact", "backward 3 0", {"exact=true", "batch.micro=8"});
  EXPECT_NE(exact.code, 0);
  EXPECT_THAT(exact.err, HasSubstr("a leaf of 8 does not fit"));
  EXPECT_THAT(exact.err, HasSubstr("smaller batch.micro"));
  const std::string each_time =
      "evaluation 0 1;evaluation 0 1;evaluation 0 1;evaluation 0 1;evaluation 0 1;evaluation 0 1";
  const ToolResult evaluating = train(2, "evaluating", each_time + ";evaluation 0 1");
  EXPECT_NE(evaluating.code, 0);
  EXPECT_THAT(evaluating.err,
              HasSubstr("in evaluation of one sample at once: no memory, by request"));
  // One sample is tried once more when what training keeps was given back.
  const ToolResult fits = train(2, "fits", each_time);
  EXPECT_EQ(fits.code, 0) << fits.err;
  EXPECT_THAT(fits.err, HasSubstr("evaluation of 1 samples at once instead of 32"));
}

TEST_F(OutOfMemory, ExactModeRefusesBuffersThatChangeAndOperatorsWithoutAFixedOrder) {
  const Words exact{"exact=true", "batch.micro=8"};
  const ToolResult buffer = train(2, "buffer", "buffer 0 0;buffer 0 1", exact);
  EXPECT_EQ(buffer.code, 2);
  EXPECT_THAT(buffer.err, HasSubstr("exact = true, but training changes the buffer seen"));
  const ToolResult blurred = train(2, "operator", "operator 3 0;operator 3 1", exact);
  EXPECT_EQ(blurred.code, 2);
  EXPECT_THAT(blurred.err,
              HasSubstr("exact = true, but the operator blurred_sum has no form here"));
  EXPECT_EQ(train(2, "usual", "buffer 0 0;operator 3 0").code, 0);
}

TEST_F(OutOfMemory, AutoTriesMicroBatchesOutAndRemembers) {
  if (!testing::has_turn_twice(3)) GTEST_SKIP() << testing::in_another_tenth;
  const Words words{"batch.micro=auto", "stop.steps=3"};
  const ToolResult first = train(2, "a", "forward 0 1 20", words);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("trying micro-batch 32: memory ran out"));
  EXPECT_THAT(first.err, HasSubstr("trying micro-batch 16: "));
  EXPECT_THAT(first.err, HasSubstr("micro-batch 16 x accumulation 2"));
  EXPECT_THAT(first.err, HasSubstr("16 is the largest that leaves 8 % and 512 MiB free"));
  EXPECT_TRUE(events("a", "memory").empty());
  const ToolResult second = train(2, "b", "forward 0 1 20", words);
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(second.err.find("trying"), std::string::npos) << second.err;
  EXPECT_THAT(second.err, HasSubstr("micro-batch 16 x accumulation 2"));
  // Other devices, other options: tried out anew.
  const ToolResult other = train(1, "c", "", words);
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_THAT(other.err, HasSubstr("trying micro-batch 64: "));
  EXPECT_EQ(list_runs(folder.path() / "runs").size(), 3U);  // nothing else is left
  const ToolResult never = train(2, "d", "forward 0 0 0;forward 0 0 0",
                                 {"batch.micro=auto", "seed=7", "batch.global=2"});
  EXPECT_NE(never.code, 0);
  EXPECT_THAT(never.err, HasSubstr("out of memory with micro-batch 1"));
  EXPECT_THAT(never.err, HasSubstr("what would help: "));
}

// At allocations anywhere between the forward pass and the next step: 24 in each kind of run,
// others in each.
struct KindOfRun {
  const char* name;
  Words words;
  std::size_t number;
};

class OutOfMemoryAnywhere : public OutOfMemory, public ::testing::WithParamInterface<KindOfRun> {};

TEST_P(OutOfMemoryAnywhere, LosesNothing) {
  samples = 1600;
  const Words& words = GetParam().words;
  constexpr std::size_t runs = 3;
  std::vector<std::size_t> turns;
  for (std::size_t i = 0; i < runs; ++i)
    if (testing::has_turn(runs * GetParam().number + i)) turns.push_back(i);
  if (turns.empty()) GTEST_SKIP() << testing::in_another_tenth;
  ASSERT_EQ(train(3, "whole", "", words).code, 0);
  int injected = 0, noticed = 0;
  for (const std::size_t i : turns) {
    std::mt19937 random(static_cast<unsigned>(runs * GetParam().number + i));
    std::string faults;
    for (int step = 2; step < 38; step += 5, ++injected)
      faults += (faults.empty() ? "" : ";") + std::string("allocation ") + std::to_string(step) +
                " " + std::to_string(random() % 3) + " " + std::to_string(random() % 160);
    const std::string name = "run" + std::to_string(i);
    const ToolResult result = train(3, name, faults, words);
    ASSERT_EQ(result.code, 0) << faults << "\n" << result.err;
    noticed += static_cast<int>(events(name, "memory").size());
    EXPECT_EQ(effective_samples(run(name)), effective_samples(run("whole"))) << faults;
    if (words.size() == 1) expect_same_run(name, "whole");
  }
  EXPECT_EQ(injected, 8 * static_cast<int>(turns.size()));
  if (turns.size() == runs) EXPECT_GE(noticed, 5);  // the others were made up for within the step
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, OutOfMemoryAnywhere,
    ::testing::Values(
        KindOfRun{"Plain", {"batch.global=1536"}, 0},
        KindOfRun{"Bf16", {"batch.global=1536", "reduce_precision=bf16", "precision=bf16"}, 1},
        KindOfRun{"Shared", {"batch.global=1536", "shard_optimizer=true", "ema.decay=0.9"}, 2},
        KindOfRun{"SharedAndSaving",
                  {"batch.global=1536", "shard_optimizer=true", "ema.decay=0.9",
                   "checkpoint.every_steps=1"},
                  3}),
    [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace lockstep
