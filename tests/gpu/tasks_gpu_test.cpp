// Models of other kinds than text on real GPUs: graphs by shape, data-dependent shapes, statistics
// over GPUs, memory that runs out, samples that are no numbers.
#include "gpu_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace lockstep {
namespace {

using testing::ToolResult;
using testing::operator+;
using Words = std::vector<std::string>;
using ::testing::HasSubstr;

class TasksOnGpus : public testing::GpuRuns {};

TEST_P(TasksOnGpus, AnUnetOfTwoSizesHasAGraphForEach) {
  const Words options{"data.sizes=2",   "batch.global=12",        "stop.steps=16",
                      "precision=fp32", "schedule.kind=constant", "matmul.tf32=false"};
  train_well("unet", "graph", options);
  EXPECT_EQ(graphs("graph").value("shapes", 0), 2);
  EXPECT_EQ(graphs("graph").value("steps", 0), 13);
  train_well("unet", "plain", options + Words{"graph=off"});
  EXPECT_TRUE(graphs("plain").is_null());
  expect_same_curve("graph", "plain", 2e-3);
}

TEST_P(TasksOnGpus, ADetectorThatWaitsForTheDeviceTrainsWithoutAGraphAndSaysWhy) {
  const ToolResult result =
      train_well("detector", "a", {"batch.global=12", "stop.steps=12", "precision=bf16"});
  EXPECT_THAT(result.err, HasSubstr("the step is no CUDA graph"));
  EXPECT_TRUE(steps("a").at(12).at("loss").is_number());
}

TEST_P(TasksOnGpus, StatisticsOverGpusHaveTheCurveOfOneCpuRank) {
  const Words options = of_sync + Words{"stop.steps=12", "data.samples=48"};
  train_well("ragged", "gpus", options);
  ASSERT_EQ(train("ragged", "cpu", "cpu:1", options).code, 0);
  expect_same_curve("gpus", "cpu", 2e-3);
}

// Whatever way the sums of a table's rows take over the GPUs, all come to the same bits.
TEST_P(TasksOnGpus, WordsOfALargeVocabularyLeaveTheWeightsOfAllGpusEqual) {
  const std::map<std::string, Words> precisions{
      {"bf16", {"precision=bf16"}},
      {"fp16", {"precision=fp16"}},
      {"low-sums", {"precision=bf16", "reduce_precision=bf16"}},
      {"fp16-low-sums", {"precision=fp16", "reduce_precision=bf16"}},
      {"shared-low-sums", {"precision=bf16", "reduce_precision=bf16", "shard_optimizer=true"}}};
  for (const auto& [name, precision] : precisions) {
    const Words options =
        precision + Words{"model.width=64", "data.samples=240",      "batch.global=24",
                          "stop.steps=40",  "check.weights_every=5", "schedule.kind=constant"};
    train_well("words", name, options);
    EXPECT_EQ(graphs(name).value("shapes", 0), 1);
    EXPECT_EQ(graphs(name).value("steps", 0), 37);
    train_well("words", name + "-plain", options + Words{"graph=off"});
    expect_same_curve(name, name + "-plain", 2e-2);
  }
}

// Pictures have one shape, so the step is a graph, with the sums of batch norm inside.
TEST_P(TasksOnGpus, StatisticsOverGpusAreInTheGraph) {
  const Words options{"norm.statistics=sync",  "norm.rows=12",  "batch.global=24",
                      "model.all_cells=true",  "stop.steps=12", "precision=fp32",
                      "schedule.kind=constant"};
  train_well("detector", "graph", options);
  EXPECT_EQ(graphs("graph").value("shapes", 0), 1);
  train_well("detector", "plain", options + Words{"graph=off"});
  expect_same_curve("graph", "plain", 2e-3);
}

TEST_P(TasksOnGpus, LeaveOutAStepThatIsNotFinite) {
  for (const char* recipe : {"detector", "unet"}) {
    const ToolResult result =
        train_well(recipe, recipe,
                   {"data.nan_at=5", "data.samples=120", "on_nan=skip", "batch.global=12",
                    "norm.statistics=sync", "stop.steps=22", "precision=bf16"});
    EXPECT_THAT(result.err, HasSubstr("field 0 of the samples")) << recipe;
    EXPECT_TRUE(steps(recipe).rbegin()->second.at("loss").is_number()) << result.err;
  }
}

TEST_P(TasksOnGpus, TakeSmallerMicroBatchesWhenMemoryRunsOut) {
  for (const char* recipe : {"detector", "unet"}) {
    const ToolResult result =
        train_well(recipe, recipe, {"model.most_rows=3", "batch.global=12", "stop.steps=8"});
    EXPECT_THAT(result.err, HasSubstr("out of memory on")) << recipe;
    EXPECT_EQ(steps(recipe).size(), 8U);
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, TasksOnGpus, ::testing::Values(1, 2),
                         [](const auto& info) { return "On" + std::to_string(info.param); });

}  // namespace
}  // namespace lockstep
