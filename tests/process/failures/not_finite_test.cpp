// Losses and gradients that are not finite: the run stops with the weights from before or goes on
// without the step, and says which samples and which tensor it was.
#include "failing_run.h"
#include "fakes/tenths.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/events/events.h"
#include "runtime/run/events/samples.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class NotFiniteRun : public FailingRun {
 protected:
  nlohmann::json event(const std::string& run, const std::string& kind) const {
    nlohmann::json found;
    for (nlohmann::json& event : read_events(folder.path() / "runs" / run / "events.jsonl"))
      if (event.at("kind") == kind) found = std::move(event);
    return found;
  }
};

TEST_F(NotFiniteRun, StopsWithTheWeightsFromBeforeAndNamesSamplesAndTensor) {
  if (!testing::has_turn_twice(1)) GTEST_SKIP() << testing::in_another_tenth;
  const Words options{"batch.micro=4", "run.record_samples=true", "checkpoint.every_steps=5"};
  const ToolResult result = train("nan_loss 7 1", options);
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err,
              HasSubstr("the loss of step 8 is not finite: first the term elements of the "
                        "loss on rank 1 (cpu:1), micro-batch 1 of 4, samples "));
  EXPECT_THAT(result.err, HasSubstr("the checkpoint of step 7 holds the weights from before"));
  const nlohmann::json told = event("a", "not_finite");
  ASSERT_EQ(told.at("samples").size(), 4U);
  EXPECT_EQ(told.at("action"), "stop");

  // Without the fault the run goes on as if nothing had been.
  ASSERT_EQ(
      run({program("lockstep"), "resume", "a", "--devices", "cpu:3", "batch.micro=4"}, "").code, 0);
  Words whole = options;
  whole.insert(whole.end(), {"--name", "whole"});
  ASSERT_EQ(train("", whole).code, 0);
  const auto samples = effective_samples(folder.path() / "runs/whole");
  EXPECT_EQ(effective_samples(folder.path() / "runs/a"), samples);
  // Rank 1's first micro-batch of step 8: places 16 to 19.
  const std::vector<std::int64_t> expected(samples.at(7).begin() + 16, samples.at(7).begin() + 20);
  EXPECT_EQ(told.at("samples").get<std::vector<std::int64_t>>(), expected);
  const auto newest = newest_good(folder.path() / "runs/a/checkpoints");
  const auto same = newest_good(folder.path() / "runs/whole/checkpoints");
  ASSERT_TRUE(newest && same);
  EXPECT_EQ(read_file(newest->path / "model.safetensors"),
            read_file(same->path / "model.safetensors"));
}

TEST_F(NotFiniteRun, GoesOnWithoutTheStepIfAsked) {
  if (!testing::has_turn_twice(4)) GTEST_SKIP() << testing::in_another_tenth;
  const ToolResult result =
      train("nan_gradient 4 2 2", {"on_nan=skip", "run.record_samples=true", "eval.every_steps=6",
                                   "batch.micro=8", "shard_optimizer=true", "precision=bf16"});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char* step : {"5", "6"})
    EXPECT_THAT(result.err, HasSubstr(std::string("warning: the gradient of step ") + step +
                                      " is not finite: first the gradient of "));
  EXPECT_THAT(result.err, HasSubstr(" on rank 2 (cpu:2), micro-batch 1 of 2, samples "));
  EXPECT_THAT(result.err, HasSubstr("; the step is left out"));
  EXPECT_THAT(result.err, HasSubstr("eval at step 6"));  // though step 6 was left out
  EXPECT_THAT(result.err, HasSubstr("checkpoint at step 6"));
  ASSERT_EQ(train("", {"run.record_samples=true", "--name", "whole"}).code, 0);
  EXPECT_EQ(effective_samples(folder.path() / "runs/a"),
            effective_samples(folder.path() / "runs/whole"));
  EXPECT_EQ(event("a", "end").at("step"), 12);
}

TEST_F(NotFiniteRun, TheLastStepMayBeLeftOut) {
  const ToolResult result = train("nan_loss 11 0", {"on_nan=skip"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the loss of step 12 is not finite"));
  EXPECT_THAT(result.err, HasSubstr("checkpoint at step 12"));
}

TEST_F(NotFiniteRun, SpoiltWeightsAreNamedAndNeverSaved) {
  // After step 6's forward pass has begun, so that its update still happens.
  const ToolResult result = train("nan_weights 6 1", {"on_nan=skip"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("first the weights second.weight on rank 1 (cpu:1)"));
  EXPECT_THAT(result.err, HasSubstr("the weights are spoilt"));
  const auto newest = newest_good(folder.path() / "runs/a/checkpoints");
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->step, 6);
}

TEST_F(NotFiniteRun, GivesUpAfterTwentyStepsInARow) {
  const ToolResult result =
      train("nan_loss 3 0 100", {"on_nan=skip", "stop.steps=60", "checkpoint.every_steps=50"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("the loss of step 22 is not finite"));
  EXPECT_THAT(result.err, Not(HasSubstr("the loss of step 24 is not finite")));
}

TEST_F(NotFiniteRun, TheLossScaleMindsItsOwnOverflows) {
  const ToolResult result = train("nan_gradient 2 0 1", {"precision=fp16"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the gradient of step 3 is not finite at this loss scale"));
}

TEST_F(NotFiniteRun, ALossFarOutsideItsRangeIsReported) {
  const ToolResult result = train("spike 79 1", {"stop.steps=100", "checkpoint.every_steps=50"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("warning: the loss of step 80, "));
  EXPECT_THAT(result.err, HasSubstr("is far above that of the steps before, "));
}

}  // namespace
}  // namespace lockstep
