// Whole runs of the real tool on real GPUs, over NCCL where there are two.
#include "checkout_paths.h"
#include "core/base/files/files.h"
#include "core/base/hash.h"
#include "core/devices/gpus/gpu_peaks.h"
#include "core/devices/gpus/gpu_probe.h"
#include "fakes/tool.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/events/events.h"
#include "runtime/run/events/samples.h"
#include "runtime/run/folder/run_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace lockstep {
namespace {

using testing::program;
using testing::run_tool;
using testing::ToolProcess;
using testing::ToolResult;
using testing::operator+;
using Words = std::vector<std::string>;

class TrainOnGpus : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto probe = make_nvml_probe();
    gpus_ = probe->gpus().size();
    if (gpus_ > 0)
      memory_bytes_ = static_cast<double>(probe->gpus()[0].memory_total_bytes.value_or(1));
    if (gpus_ == 0) GTEST_SKIP() << "no GPU: " << probe->why_absent();
    if (gpus_ < needed()) GTEST_SKIP() << too_few(needed());
    if (!std::filesystem::exists(LOCKSTEP_BUILD_DIR "/liblockstep-cuda.so"))
      GTEST_SKIP() << "built without the CUDA library";
    testing::write_corpus(corpus_, 200000);
  }
  virtual std::size_t needed() const { return 1; }

  // A model large enough that a wrong sum over ranks shows, small enough for seconds.
  Words train(const std::string& devices, const std::string& name, int steps) const {
    return Words{"train", "textgen", "--devices", devices, "--name", name} +
           testing::tiny(corpus_) +
           Words{"model.layers=2",          "model.width=64",
                 "model.context=64",        "model.dropout=0.1",
                 "batch.global=24",         "optimizer.lr=1e-3",
                 "schedule.min_lr=1e-4",    "preset=small",
                 "precision=fp32",          "stop.steps=" + std::to_string(steps),
                 "run.record_samples=true", "log.every_steps=1"};
  }
  std::string too_few(std::size_t needed) const {
    return "needs " + std::to_string(needed) + " GPUs, but this machine has " +
           std::to_string(gpus_);
  }
  std::filesystem::path run(const std::string& name) const {
    return folder_.path() / "runs" / name;
  }
  std::vector<nlohmann::json> steps(const std::string& name) const {
    std::vector<nlohmann::json> all;
    for (const auto& event : effective_events(read_events(run(name) / "events.jsonl")))
      if (event.value("kind", "") == "step") all.push_back(event);
    return all;
  }
  void expect_same_curve(const std::string& a, const std::string& b,
                         double tolerance = 1e-4) const {
    const auto first = steps(a), second = steps(b);
    ASSERT_EQ(first.size(), second.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      const double x = first[i].at("loss"), y = second[i].at("loss");
      EXPECT_LE(std::abs(x - y), tolerance * x) << "step " << i + 1;
    }
    EXPECT_EQ(effective_samples(run(a)), effective_samples(run(b)));
  }

  void run_well(const std::string& devices, const std::string& name, const Words& options) {
    const ToolResult result = run_tool(train(devices, name, 40) + options, folder_.path());
    ASSERT_EQ(result.code, 0) << result.err;
  }
  ToolResult bench(const std::string& counts) const {
    return run_tool(
        Words{"bench", "textgen", "--json", "--devices", counts, "--steps", "8", "--repeats", "1"} +
            testing::tiny(corpus_) + Words{"model.width=64", "batch.global=24"},
        folder_.path());
  }
  bool captured(const std::string& name) const {
    for (const auto& event : read_events(run(name) / "events.jsonl"))
      if (event.value("kind", "") == "graph") return event.at("captured");
    return false;
  }
  double peak_bytes(const std::string& name) const {
    double peak = 0;
    for (const auto& event : steps(name))
      for (const auto& rank : event.at("memory")) peak = std::max<double>(peak, rank.at("peak"));
    return peak;
  }
  double validation_loss(const std::string& name) const {
    double loss = 0;
    for (const auto& event : read_events(run(name) / "events.jsonl"))
      if (event.value("kind", "") == "eval") loss = event.at("metrics").at("loss");
    return loss;
  }

  std::size_t gpus_ = 0;
  double memory_bytes_ = 1;
  TemporaryDirectory folder_;
  std::filesystem::path corpus_ = folder_.path() / "corpus.txt";
};

class TrainOnTwoGpus : public TrainOnGpus {
 protected:
  std::size_t needed() const override { return 2; }
};

// A test each for so many GPUs, so that what was left out for lack of them counts as skipped, by
// name.
class TrainOnSoManyGpus : public TrainOnGpus, public ::testing::WithParamInterface<std::size_t> {
 protected:
  std::size_t needed() const override { return GetParam(); }
  std::string devices() const {  // 0,1,…
    std::string list = "0";
    for (std::size_t i = 1; i < GetParam(); ++i) list += "," + std::to_string(i);
    return list;
  }
};

using Count = ::testing::TestParamInfo<std::size_t>;
std::string count_name(const Count& count) { return "On" + std::to_string(count.param); }

TEST_F(TrainOnTwoGpus, OneAndTwoGiveTheSameCurveAndSamples) {
  const ToolResult one = run_tool(train("0", "one", 100), folder_.path());
  ASSERT_EQ(one.code, 0) << one.err;
  const ToolResult two = run_tool(train("0,1", "two", 100), folder_.path());
  ASSERT_EQ(two.code, 0) << two.err;
  expect_same_curve("one", "two");
  EXPECT_LT(steps("one").back().at("loss").get<double>(),
            steps("one").front().at("loss").get<double>() - 0.5);
}

TEST_F(TrainOnGpus, AGpuAndTheCpuGiveTheSameCurve) {
  ASSERT_EQ(run_tool(train("0", "gpu", 30), folder_.path()).code, 0);
  ASSERT_EQ(run_tool(train("cpu:2", "cpu", 30), folder_.path()).code, 0);
  expect_same_curve("gpu", "cpu");
}

TEST_F(TrainOnGpus, KnowsItsUtilisationWhereItKnowsThePeak) {
  const ToolResult result =
      run_tool(train("0", "mfu", 20) + Words{"precision=fp16"}, folder_.path());
  ASSERT_EQ(result.code, 0) << result.err;
  const auto probe = make_nvml_probe();
  const Device device = select_devices("0", *probe, host_info(), nullptr, 0).at(0);
  const bool known = peak_flops(device, ComputeType::fp16).has_value();
  for (const auto& step : steps("mfu")) {
    ASSERT_EQ(step.at("mfu").is_number(), known) << device.name;
    if (known) {
      EXPECT_GT(step["mfu"].get<double>(), 0);
      EXPECT_LT(step["mfu"].get<double>(), 1);
    }
  }
}

TEST_F(TrainOnGpus, BenchMeasuresOne) {
  const ToolResult result = bench("1");
  ASSERT_EQ(result.code, 0) << result.err;
  const nlohmann::json rows = nlohmann::json::parse(result.out).at("rows");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_GT(rows[0].at("step_s").at("median").get<double>(), 0);
}

TEST_F(TrainOnTwoGpus, BenchComparesOneAndTwo) {
  const ToolResult result = bench("1,2");
  ASSERT_EQ(result.code, 0) << result.err;
  const nlohmann::json rows = nlohmann::json::parse(result.out).at("rows");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_GT(rows[1].at("all_reduce").at("bus_bytes_per_s").get<double>(), 0);
  EXPECT_EQ(rows[1].at("wait_shares").size(), 2U);
  if (rows[1].at("link").is_object()) {
    EXPECT_LT(rows[1]["all_reduce"]["bus_bytes_per_s"].get<double>(),
              rows[1]["link"].at("bytes_per_s").get<double>());
  }
}

// A transformer with every kernel of ours, dropout and accumulation, 50 steps each.
class GraphOnGpus : public TrainOnSoManyGpus {};

TEST_P(GraphOnGpus, TheGraphChangesNoBitOfTheWeights) {
  for (const std::string precision : {"bf16", "fp16", "fp32"}) {
    std::vector<std::string> weights;
    for (const std::string graph : {"auto", "off"}) {
      const std::string name = precision + graph;
      const ToolResult result =
          run_tool(train(devices(), name, 50) + Words{"deterministic=true", "graph=" + graph,
                                                      "precision=" + precision, "batch.micro=6"},
                   folder_.path());
      ASSERT_EQ(result.code, 0) << result.err;
      const auto newest = newest_good(run(name) / "checkpoints");
      ASSERT_TRUE(newest);
      weights.push_back(read_file(newest->path / "model.safetensors", data_bytes));
      EXPECT_EQ(captured(name), graph == "auto") << result.err;
    }
    EXPECT_TRUE(weights[0] == weights[1]) << precision;
  }
}
INSTANTIATE_TEST_SUITE_P(Gpus, GraphOnGpus, ::testing::Values(1, 2), count_name);

// 16 leaves of the textgen workload that speed is measured on, as one graph on each.
class ExactOnGpus : public TrainOnSoManyGpus {
 protected:
  void run_exact(const Words& words) const {
    const ToolResult result = run_tool(words, folder_.path());
    ASSERT_EQ(result.code, 0) << result.err;
  }
  void train_exact(const std::string& on, const std::string& name, int steps) const {
    run_exact({"train", "textgen", "preset=bench-textgen", "exact=true", "--devices", on, "--name",
               name, "batch.global=256", "batch.micro=16", "batch.accumulation=0",
               "stop.steps=" + std::to_string(steps)});
    EXPECT_TRUE(captured(name));
  }
  std::string weights(const std::string& name) const {
    const auto newest = newest_good(run(name) / "checkpoints");
    return newest
               ? std::to_string(hash64(read_file(newest->path / "model.safetensors", data_bytes)))
               : "";
  }
};

TEST_P(ExactOnGpus, TheWeightsAreBitwiseThoseOfOne) {
  train_exact("0", "one", 200);
  ASSERT_NE(weights("one"), "");
  train_exact(devices(), "whole", 200);
  EXPECT_EQ(weights("whole"), weights("one"));
  train_exact(devices(), "cut", 90);
  run_exact({"resume", "cut", "--devices", "0", "stop.steps=200"});
  EXPECT_EQ(weights("cut"), weights("one"));
  train_exact(devices(), "short", 199);
  EXPECT_NE(weights("short"), weights("one"));
}
INSTANTIATE_TEST_SUITE_P(Gpus, ExactOnGpus, ::testing::Values(1, 2, 4, 8), count_name);

// Memory for a quarter of the micro-batch: the steps that do not fit are repeated in smaller ones.
class ScarceMemoryOnGpus : public TrainOnSoManyGpus {};

TEST_P(ScarceMemoryOnGpus, MemoryThatRunsOutShrinksTheMicroBatch) {
  const std::size_t global = 64 * GetParam();
  for (const std::string name : {"roomy", "tight"}) {
    std::map<std::string, std::string> environment;
    if (name == "tight")
      environment["PYTORCH_ALLOC_CONF"] =
          "per_process_memory_fraction:" + std::to_string(1.5e9 / memory_bytes_);
    const ToolResult result = run_tool(
        {"train", "textgen", "preset=bench-textgen", "--devices", devices(), "--name", name,
         "batch.micro=64", "batch.accumulation=0", "batch.global=" + std::to_string(global),
         "stop.steps=20", "run.record_samples=true"},
        folder_.path(), environment);
    ASSERT_EQ(result.code, 0) << result.err;
  }
  int shrunk = 0;
  for (const auto& event : read_events(run("tight") / "events.jsonl"))
    if (event.value("kind", "") == "memory") shrunk += 1;
  EXPECT_GE(shrunk, 1);
  EXPECT_TRUE(captured("tight"));
  expect_same_curve("roomy", "tight", 1e-3);
}
INSTANTIATE_TEST_SUITE_P(Gpus, ScarceMemoryOnGpus, ::testing::Values(1, 2), count_name);

// What a GPU without our kernels does, forced on any.
TEST_F(TrainOnGpus, ATensOperatorsAloneGiveTheSameCurve) {
  ASSERT_EQ(run_tool(train("0", "own", 50), folder_.path()).code, 0);
  const ToolResult plain =
      run_tool(train("0", "plain", 50), folder_.path(), {{"LOCKSTEP_KERNELS", "aten"}});
  ASSERT_EQ(plain.code, 0) << plain.err;
  expect_same_curve("own", "plain");
}

TEST_F(TrainOnTwoGpus, StoppedOnTwoGoesOnOnOneToTheSameCurve) {
  ASSERT_EQ(run_tool(train("0", "whole", 2000), folder_.path()).code, 0);
  ToolProcess cut(Words{program("lockstep")} + train("0,1", "cut", 2000), folder_.path());
  const auto events = run("cut") / "events.jsonl";
  for (int i = 0; i < 6000 && (!std::filesystem::exists(events) || steps("cut").size() < 20); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(cut.pid(), SIGINT);
  const ToolResult stopped = cut.wait();
  ASSERT_EQ(stopped.code, 75) << stopped.err;
  const ToolResult resumed = run_tool({"resume", "cut", "--devices", "1"}, folder_.path());
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const auto whole = steps("whole"), both = steps("cut");
  ASSERT_EQ(whole.size(), both.size());
  EXPECT_EQ(effective_samples(run("whole")), effective_samples(run("cut")));
  // Rounding differs with the number of GPUs and grows over thousands of steps.
  for (std::size_t i = 0; i < 200; ++i)
    EXPECT_NEAR(whole[i].at("loss"), both[i].at("loss"), 1e-3) << "step " << i + 1;
}

TEST_F(TrainOnTwoGpus, AKilledRankEndsTheRunInSecondsAndItGoesOn) {
  ToolProcess tool(Words{program("lockstep")} + train("0,1", "killed", 1000000) +
                       Words{"checkpoint.every_steps=10"},
                   folder_.path());
  for (int i = 0; i < 6000 && !newest_good(run("killed") / "checkpoints"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const std::vector<pid_t> ranks = testing::ranks_of(tool.pid());
  ASSERT_EQ(ranks.size(), 2U);
  kill(ranks[1], SIGKILL);
  const auto begin = std::chrono::steady_clock::now();
  const ToolResult ended = tool.wait();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_LT(seconds.count(), 10);
  EXPECT_NE(ended.err.find("rank 1"), std::string::npos) << ended.err;
  for (const pid_t pid : ranks) EXPECT_NE(kill(pid, 0), 0);
  const auto left = newest_good(run("killed") / "checkpoints");
  ASSERT_TRUE(left);
  const ToolResult resumed = run_tool(
      {"resume", "killed", "--devices", "0", "stop.steps=" + std::to_string(left->step + 5)},
      folder_.path());
  EXPECT_EQ(resumed.code, 0) << resumed.err;
}

// NVML is a fake that shows the real GPUs until the test takes one away.
TEST_F(TrainOnTwoGpus, AGpuThatIsLostIsLeftOutOfTheRestart) {
  nlohmann::json machine{{"gpus", nlohmann::json::array()}};
  for (const GpuInfo& gpu : make_nvml_probe()->gpus())
    machine["gpus"].push_back({{"uuid", gpu.uuid},
                               {"name", gpu.name},
                               {"memory", gpu.memory_total_bytes.value_or(0)},
                               {"bus", machine["gpus"].size()},
                               {"major", gpu.compute_major},
                               {"minor", gpu.compute_minor}});
  const std::filesystem::path file = folder_.path() / "gpus.json";
  write_file_atomic(file, machine.dump());
  ToolProcess tool(
      Words{program("lockstep")} + train("0,1", "lost", 400) +
          Words{"checkpoint.every_steps=10", "restart=1"},
      folder_.path(),
      {{"LOCKSTEP_NVML", LOCKSTEP_BUILD_DIR "/tests/libfake-nvml.so"}, {"FAKE_NVML", file}});
  for (int i = 0; i < 6000 && !newest_good(run("lost") / "checkpoints"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  machine["gpus"][1]["error"] = 15;
  write_file_atomic(file, machine.dump());
  const std::vector<pid_t> ranks = testing::ranks_of(tool.pid());
  ASSERT_EQ(ranks.size(), 2U);
  kill(ranks[1], SIGKILL);
  const ToolResult ended = tool.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("warning: cuda:1 ("), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("does not answer any more and is left out"), std::string::npos);
  run_well("0,1", "whole", {"stop.steps=400"});
  EXPECT_EQ(effective_samples(run("lost")), effective_samples(run("whole")));
}

TEST_F(TrainOnGpus, ALossThatIsNotFiniteStopsWithTheWeightsFromBefore) {
  // A learning rate that no model survives.
  const ToolResult ended =
      run_tool(train("all", "burst", 400) + Words{"optimizer.kind=sgd", "optimizer.lr=1e18",
                                                  "optimizer.clip=0", "schedule.warmup=200"},
               folder_.path());
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find(" is not finite: first "), std::string::npos) << ended.err;
}

TEST_F(TrainOnTwoGpus, AWorldThatSomebodyElseMadeRecordsTheGpuOfEveryRank) {
  std::vector<std::unique_ptr<ToolProcess>> ranks;
  const std::string port = std::to_string(20000 + getpid() % 12000);
  for (const std::string rank : {"0", "1"}) {
    const auto own = folder_.path() / rank;
    std::filesystem::create_directory(own);
    Words words{program("lockstep-worker"),
                "train",
                "textgen",
                "--name",
                "foreign",
                "run.root=" + (folder_.path() / "runs").string(),
                "stop.steps=3"};
    ranks.push_back(std::make_unique<ToolProcess>(
        words + testing::tiny(corpus_), own,
        std::map<std::string, std::string>{{"RANK", rank},
                                           {"LOCAL_RANK", rank},
                                           {"WORLD_SIZE", "2"},
                                           {"LOCAL_WORLD_SIZE", "2"},
                                           {"MASTER_ADDR", "127.0.0.1"},
                                           {"MASTER_PORT", port}}));
  }
  for (auto& rank : ranks) {
    const ToolResult result = rank->wait();
    ASSERT_EQ(result.code, 0) << result.err;
  }
  const nlohmann::json record = RunDir::open("foreign", folder_.path() / "runs").record();
  const nlohmann::json& devices = record.at("devices");
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].at("kind"), "cuda");
  EXPECT_NE(devices[0].at("uuid"), devices[1].at("uuid"));
  EXPECT_NE(devices[0].at("index"), devices[1].at("index"));
}

TEST_F(TrainOnGpus, ARecordedStepAveragesTheWeightsAsAnyOther) {
  const Words ema{"ema.decay=0.9"};
  run_well("0", "recorded", ema);
  run_well("0", "single", ema + Words{"graph=off"});
  run_well("0", "weights", Words{});
  EXPECT_TRUE(captured("recorded"));
  EXPECT_FALSE(captured("single"));
  expect_same_curve("recorded", "single");
  expect_same_curve("recorded", "weights");
  const double loss = validation_loss("recorded");
  EXPECT_NEAR(loss, validation_loss("single"), 1e-4 * loss);
  EXPECT_GT(std::abs(loss - validation_loss("weights")), 1e-4 * loss);
}

TEST_F(TrainOnTwoGpus, TwoThatShareTheUpdateGiveTheCurveOfOneWithARecordedStepToo) {
  const Words ema{"ema.decay=0.9"}, shared{"ema.decay=0.9", "shard_optimizer=true"};
  run_well("0", "one", ema);
  run_well("0,1", "shared", shared);
  run_well("0,1", "single", shared + Words{"graph=off"});
  EXPECT_TRUE(captured("shared"));
  expect_same_curve("one", "shared");
  expect_same_curve("one", "single");
  const double loss = validation_loss("one");
  EXPECT_NEAR(validation_loss("shared"), loss, 1e-4 * loss);
}

TEST_F(TrainOnTwoGpus, SharingTheUpdateInBf16TakesLessMemoryAndGivesTheSameCurve) {
  const Words bf16{"precision=bf16", "model.width=512", "model.heads=8", "model.layers=4"};
  run_well("0,1", "each", bf16);
  run_well("0,1", "shared", bf16 + Words{"shard_optimizer=true"});
  expect_same_curve("each", "shared", 5e-3);
  // 12 M parameters, of whose 12 bytes for the update each GPU keeps half.
  EXPECT_LT(peak_bytes("shared"), peak_bytes("each") - 12e6 * 5);
}

TEST_F(TrainOnGpus, BlocksThatAreComputedAgainGiveTheSameCurveInLessMemory) {
  const Words options{"model.layers=8", "model.width=256", "model.context=256", "batch.global=48"};
  for (const std::string precision : {"fp32", "bf16"}) {
    const Words all = options + Words{"precision=" + precision};
    const std::string kept = "kept-" + precision, again = "again-" + precision;
    run_well("0", kept, all);
    run_well("0", again, all + Words{"memory.recompute=blocks"});
    EXPECT_TRUE(captured(again));
    expect_same_curve(kept, again, precision == "fp32" ? 1e-4 : 5e-3);
    EXPECT_LT(peak_bytes(again), 0.7 * peak_bytes(kept)) << precision;
  }
}

// bf16 from sm_80 on, else fp16, and in the record for good.
TEST_F(TrainOnGpus, TakeTheShortestTypeThatTheyHave) {
  run_well("0", "auto", {"precision=auto"});
  const nlohmann::json record = RunDir::open((folder_.path() / "runs/auto").string(), "").record();
  const std::string capability = record.at("plan").at("devices").at(0).at("compute_capability");
  const std::string expected = std::stoi(capability) >= 8 ? "bf16" : "fp16";
  EXPECT_EQ(record.at("config").at("precision"), expected);
  const auto losses = steps("auto");
  EXPECT_LT(losses.back().at("loss").get<double>(), losses.front().at("loss").get<double>());
}

// Off by default, for products of ours and of ATen's alike.
TEST_F(TrainOnGpus, RoundFp32ProductsWhereTheyAreToldTo) {
  const Words model{"model.width=256", "model.heads=4"};
  run_well("0", "whole", model);
  run_well("0", "again", model);
  run_well("0", "rounded", model + Words{"matmul.tf32=true"});
  expect_same_curve("whole", "rounded", 2e-2);
  const nlohmann::json record =
      RunDir::open((folder_.path() / "runs/rounded").string(), "").record();
  if (!record.at("plan").at("precision").at("tf32").get<bool>()) GTEST_SKIP() << "no TF32 here";
  double apart = 0, noise = 0;
  const auto whole = steps("whole"), again = steps("again"), rounded = steps("rounded");
  for (std::size_t i = 0; i < 3; ++i) {
    const double loss = whole.at(i).at("loss");
    apart = std::max(apart, std::fabs(loss - rounded.at(i).at("loss").get<double>()));
    noise = std::max(noise, std::fabs(loss - again.at(i).at("loss").get<double>()));
  }
  EXPECT_GT(apart, 3 * noise + 1e-6);
}

// An estimate that is too large costs a smaller micro-batch, one that is too small a step.
TEST_F(TrainOnGpus, TheMemoryEstimateHoldsAgainstTheMeasuredPeak) {
  for (const std::string precision : {"fp32", "bf16"}) {
    const Words options{"data.path=" + corpus_.string(), "preset=bench-textgen",
                        "precision=" + precision, "stop.steps=3", "log.every_steps=1"};
    const ToolResult plan =
        run_tool(Words{"plan", "textgen", "--devices", "1", "--json"} + options, folder_.path());
    ASSERT_EQ(plan.code, 0) << plan.err;
    const nlohmann::json memory = nlohmann::json::parse(plan.out).at("memory");
    ASSERT_FALSE(memory.at("measured"));
    const ToolResult trained = run_tool(
        Words{"train", "textgen", "--devices", "0", "--name", precision} + options, folder_.path());
    ASSERT_EQ(trained.code, 0) << trained.err;
    double peak = 0;
    for (const auto& event : steps(precision))
      for (const auto& rank : event.at("memory"))
        peak = std::max(peak, rank.at("peak").get<double>());
    const double estimate = memory.at("needed_bytes");
    RecordProperty(precision + "_estimate", std::to_string(estimate));
    RecordProperty(precision + "_peak", std::to_string(peak));
    EXPECT_GT(peak, 0);
    EXPECT_LE(peak, 1.2 * estimate) << precision;
    EXPECT_LE(estimate, 1.2 * peak) << precision;
  }
}

}  // namespace
}  // namespace lockstep
