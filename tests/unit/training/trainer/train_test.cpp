// The loop as a whole, on one rank in this process: batch norm and a sample that is not a number.
#include "training/trainer/trainer.h"

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/events_of.h"
#include "fakes/fake_clock.h"
#include "fakes/toy_recipe.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "training/checkpoint/tensor_file.h"
#include "training/step/train_step.h"

#include <gtest/gtest.h>

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/ones.h>

#include <limits>
#include <utility>

namespace lockstep {
namespace {

constexpr std::int64_t samples = 40, micro = 4, nan_sample = 13;

class NormModel : public Model {
 public:
  std::vector<Parameter> parameters() override { return {{"weight", weight}, {"head", head}}; }
  std::vector<NamedTensor> buffers() override {
    return {{"running_mean", mean}, {"running_var", variance}};
  }
  void train(bool on) override { training = on; }
  at::Tensor weight = at::ones({5}).set_requires_grad(true);
  at::Tensor head = at::ones({3, 5}).mul_(0.1).set_requires_grad(true);
  at::Tensor mean = at::zeros({5}), variance = at::ones({5});
  bool training = true;
};

// One training sample is not a number.
class SpoiltData : public testing::ToyData {
 public:
  SpoiltData() : ToyData(samples) {}
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override {
    std::vector<at::Tensor> fields = ToyData::get(index, context);
    if (index == nan_sample) fields[0][2] = std::numeric_limits<float>::quiet_NaN();
    return fields;
  }
};

class NormRecipe : public testing::ToyRecipe {
 public:
  std::unique_ptr<Model> build(std::uint64_t) override { return std::make_unique<NormModel>(); }
  DatasetPair data() override {
    return {std::make_shared<SpoiltData>(), std::make_shared<testing::ToyData>(12)};
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext&) override {
    const at::Tensor mask = batch.tensors[2] * batch.row_weight.unsqueeze(1);
    const at::Tensor squares = (out(model, batch) - batch.tensors[1]).square() * mask;
    return {squares.sum(), squares.sum() * 0};
  }
  at::Tensor evaluate(Model& model, const Batch& batch, StepContext&) override {
    return (out(model, batch) - batch.tensors[1]).square().sum(1, true).to(at::kDouble);
  }

 private:
  static at::Tensor out(Model& model, const Batch& batch) {
    auto& norm = dynamic_cast<NormModel&>(model);
    return at::linear(at::batch_norm(batch.tensors[0], norm.weight, {}, norm.mean, norm.variance,
                                     norm.training, 0.1, 1e-5, false),
                      norm.head);
  }
};

class Train : public ::testing::Test {
 protected:
  Train() {
    options.precision = Precision::fp32;
    options.log.every_steps = 1;
    options.data.threads = 0;
    options.checkpoint.every_steps = 5;
    plan.batch = {.world_size = 1, .micro = micro, .accumulation = 1, .global = micro};
    plan.devices.resize(1);
    plan.train_samples = samples;
    plan.valid_samples = 12;
    plan.steps_per_epoch = samples / micro;
    plan.total_steps = samples / micro;
    plan.schedule.base_lr = 0.01;
  }
  TrainEnd train(bool resume = false) {
    return lockstep::train({.options = options,
                            .plan = plan,
                            .recipe = recipe,
                            .group = group,
                            .backend = cpu_backend(),
                            .run = run,
                            .clock = clock,
                            .resume = resume});
  }
  std::vector<nlohmann::json> events(const std::string& kind) const {
    return testing::events_of(run.events_path(), kind);
  }

  TemporaryDirectory folder;
  FakeClock clock;
  TrainOptions options;
  Plan plan;
  NormRecipe recipe;
  ProcessGroup group{World{}, cpu_backend()};
  RunDir run = RunDir::create(folder.path(), "run", "norm");
};

TEST_F(Train, ASampleThatIsNoNumberLeavesNoTraceInStatisticsAndCheckpoints) {
  options.on_nan = OnNan::skip;
  EXPECT_EQ(train(), TrainEnd::finished);
  ASSERT_EQ(events("not_finite").size(), 1U);
  EXPECT_EQ(events("not_finite")[0].at("tensor"), "field 0 of the samples");
  const auto newest = newest_good(run.checkpoints());
  ASSERT_TRUE(newest.has_value());
  EXPECT_EQ(newest->step, samples / micro);
  for (const auto& [name, tensor] : map_tensors(newest->path / "model.safetensors"))
    EXPECT_TRUE(at::isfinite(tensor).all().item<bool>()) << name;
  const nlohmann::json evaluation = events("eval").at(0);
  EXPECT_TRUE(evaluation.at("metrics").at("squared_error").is_number()) << evaluation;
  EXPECT_EQ(evaluation.at("best"), true);
}

// Rows are drawn anew in each epoch: the bad sample comes somewhere.
class UnreadableSample : public Train, public ::testing::WithParamInterface<const char*> {};

TEST_P(UnreadableSample, EndsTheRunWithACheckpointOfTheStepBefore) {
  class Unreadable : public testing::ToyData {
   public:
    Unreadable() : ToyData(samples) {}
    std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override {
      if (index == nan_sample) throw Error("a.jpg is damaged", GetParam());
      return ToyData::get(index, context);
    }
  };
  class UnreadableRecipe : public NormRecipe {
    DatasetPair data() override {
      return {std::make_shared<Unreadable>(), std::make_shared<testing::ToyData>(12)};
    }
  } unreadable;
  options.checkpoint.every_steps = 1000;
  std::string what, hint;
  try {
    lockstep::train({.options = options,
                     .plan = plan,
                     .recipe = unreadable,
                     .group = group,
                     .backend = cpu_backend(),
                     .run = run,
                     .clock = clock});
  } catch (const Error& error) {
    what = error.what();
    hint = error.hint();
  }
  EXPECT_EQ(what, "sample 13 of the training data: a.jpg is damaged");
  const std::size_t steps = events("step").size();
  ASSERT_GT(steps, 0U) << "another seed: the sample must not come first";
  const auto newest = newest_good(run.checkpoints());
  ASSERT_TRUE(newest.has_value());
  EXPECT_EQ(newest->step, static_cast<std::int64_t>(steps));
  const std::string own = GetParam();
  EXPECT_EQ(hint, cat(own, own.empty() ? "" : "; ", "the checkpoint of step ", steps,
                      " is kept, and lockstep resume goes on from it"));
}
INSTANTIATE_TEST_SUITE_P(WithAndWithoutAHint, UnreadableSample,
                         ::testing::Values("take it out", ""));

TEST_F(Train, ARunLeavesItsCurvesAsAPicture) {
  options.on_nan = OnNan::skip;
  EXPECT_EQ(train(), TrainEnd::finished);
  const std::string svg = read_file(run.path() / "curves.svg");
  EXPECT_NE(svg.find(">loss<"), svg.npos);
}

TEST_F(Train, AnEvaluationThatIsNotFiniteIsNeverTheBest) {
  class NoNumber : public NormRecipe {
    at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context) override {
      return NormRecipe::evaluate(model, batch, context) * std::numeric_limits<double>::quiet_NaN();
    }
  } none;
  options.on_nan = OnNan::skip;
  const TrainerSetup setup{.options = options,
                           .plan = plan,
                           .recipe = none,
                           .group = group,
                           .backend = cpu_backend(),
                           .run = run,
                           .clock = clock};
  EXPECT_EQ(lockstep::train(setup), TrainEnd::finished);
  ASSERT_EQ(events("eval").size(), 1U);
  EXPECT_EQ(events("eval")[0].at("best"), false);
}

// A recipe that counts in its preparation and loads in the worker may do the two differently.
TEST_F(Train, RefusesDataThatThePlanDoesNotKnow) {
  const auto said = [&](std::int64_t Plan::*count) {
    Plan other = plan;
    ++(other.*count);
    try {
      lockstep::train({.options = options,
                       .plan = other,
                       .recipe = recipe,
                       .group = group,
                       .backend = cpu_backend(),
                       .run = run,
                       .clock = clock});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  plan.epoch_size = samples;
  EXPECT_EQ(said(&Plan::train_samples),
            "the number of training samples is 40, but the run was planned for 41");
  EXPECT_NE(said(&Plan::valid_samples).find("validation samples"), std::string::npos);
  EXPECT_NE(said(&Plan::epoch_size).find("epoch_size() of the training data"), std::string::npos);
  plan.batch.rows_per_sample = 2;
  EXPECT_NE(said(&Plan::total_steps).find("rows_per_sample() of the training data"),
            std::string::npos);
}

TEST_F(Train, EndsWithTheWeightsFromBeforeUnlessItMayGoOn) {
  EXPECT_THROW(train(), Error);
  const auto newest = newest_good(run.checkpoints());
  ASSERT_TRUE(newest.has_value());
  EXPECT_EQ(newest->step, events("not_finite").at(0).at("step").get<std::int64_t>() - 1);
}

// Validation samples are two rows each.
class InTwoRows : public NormRecipe {
 public:
  DatasetPair data() override {
    struct Two : testing::ToyData {
      using ToyData::ToyData;
      std::int64_t rows_per_sample() const override { return 2; }
    };
    return {std::make_shared<testing::ToyData>(samples), std::make_shared<Two>(12)};
  }
  at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context) override {
    rows = batch.size();
    return NormRecipe::evaluate(model, batch, context);
  }
  std::int64_t rows = 0;  // of the last batch
};

TEST_F(Train, ABatchOfEvaluationIsNotLargerThanAllItsRows) {
  InTwoRows two;
  options.eval.batch = 100;
  const TrainerSetup setup{.options = options,
                           .plan = plan,
                           .recipe = two,
                           .group = group,
                           .backend = cpu_backend(),
                           .run = run,
                           .clock = clock};
  EXPECT_EQ(lockstep::train(setup), TrainEnd::finished);
  EXPECT_EQ(two.rows, 24);
}

// A step takes a second, and each evaluation but one is worse than the one before.
class WorseAndWorse : public NormRecipe {
 public:
  explicit WorseAndWorse(FakeClock& clock) : clock_(clock) {}
  DatasetPair data() override {
    return {std::make_shared<testing::ToyData>(samples), std::make_shared<testing::ToyData>(12)};
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    clock_.advance(1);
    return NormRecipe::loss(model, batch, context);
  }
  std::vector<Metric> metrics(const Records&) const override {
    return {{"error", ++evaluations_ == best_at ? 0 : evaluations_, "", true}};
  }
  double best_at = 0;  // the evaluation that is the best, from 1; 0: the first

 private:
  FakeClock& clock_;
  mutable double evaluations_ = 0;
};

class Stopped : public Train {
 protected:
  // The first start ends after step `stop_at`, the second goes on.
  void train_twice(double stop_at) {
    options.stop.after.seconds = stop_at + 0.9;  // a save takes real time
    EXPECT_EQ(train_worse(/*resume=*/false), TrainEnd::stopped);
    options.stop.after.seconds = 0;
    EXPECT_EQ(train_worse(/*resume=*/true), TrainEnd::finished);
  }
  TrainEnd train_worse(bool resume) {
    return lockstep::train({.options = options,
                            .plan = plan,
                            .recipe = worse,
                            .group = group,
                            .backend = cpu_backend(),
                            .run = run,
                            .clock = clock,
                            .resume = resume});
  }
  WorseAndWorse worse{clock};
};

TEST_F(Stopped, WhereAnEvaluationWasDueItIsMadeByTheNextStart) {
  options.eval.every_steps = 2;
  train_twice(4);
  std::vector<std::int64_t> steps;
  for (const nlohmann::json& event : events("eval")) steps.push_back(event.at("step"));
  EXPECT_EQ(steps, (std::vector<std::int64_t>{2, 4, 6, 8, 10}));
}

TEST_F(Stopped, AnEvaluationThatIsMadeUpForMayBeTheBest) {
  options.eval.every_steps = 2;
  worse.best_at = 2;
  train_twice(4);
  std::vector<CheckpointInfo> damaged;
  EXPECT_EQ(best_good(run.checkpoints(), damaged)->step, 4);
}

// 10 steps are an epoch: after the first evaluation, at step 3, nothing is better.
TEST_F(Stopped, PatienceGoesByEvaluationsNotByTheStepOfTheStop) {
  options.eval.every_steps = 3;
  options.stop.patience_epochs = 0.4;
  train_twice(8);
  EXPECT_EQ(events("step").back().at("step"), 9);
}

// A step takes a second, a batch of four in evaluation as long as the test says.
class SlowToEvaluate : public WorseAndWorse {
 public:
  explicit SlowToEvaluate(FakeClock& clock) : WorseAndWorse(clock), clock_(clock) {}
  DatasetPair data() override {
    return {WorseAndWorse::data().train, std::make_shared<testing::ToyData>(valid_samples)};
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    clock_.advance(std::exchange(first_step_more_s, 0));
    return WorseAndWorse::loss(model, batch, context);
  }
  at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context) override {
    clock_.advance(batch_s);
    return WorseAndWorse::evaluate(model, batch, context);
  }
  double batch_s = 5, first_step_more_s = 0;
  std::int64_t valid_samples = 12;

 private:
  FakeClock& clock_;
};

class QuotaIsKept : public Train {
 protected:
  QuotaIsKept() {
    plan.total_steps = 40;
    options.eval.every_steps = 2;
    options.checkpoint.every_steps = 1000;
    options.checkpoint.keep_best = false;  // a save takes real time
  }
  TrainEnd train_slowly(double after_s, bool resume = false) {
    options.stop.after.seconds = after_s;
    clock.now = 0;
    return lockstep::train({.options = options,
                            .plan = plan,
                            .recipe = slow,
                            .group = group,
                            .backend = cpu_backend(),
                            .run = run,
                            .clock = clock,
                            .resume = resume,
                            .expected = expected});
  }
  std::vector<std::int64_t> steps_of(const std::string& kind) const {
    std::vector<std::int64_t> steps;
    for (const nlohmann::json& event : events(kind)) steps.push_back(event.at("step"));
    return steps;
  }
  SlowToEvaluate slow{clock};
  ExpectedTimes expected;
};

TEST_F(QuotaIsKept, ByLeavingOutEvaluationsThatTakeTooLong) {
  EXPECT_EQ(train_slowly(33), TrainEnd::stopped);
  EXPECT_LE(clock.now, 33);
  EXPECT_GE(clock.now, 32) << "it trains on instead";
  EXPECT_EQ(steps_of("eval"), (std::vector<std::int64_t>{2}));
  ASSERT_EQ(events("evaluation_left_out").size(), 1U) << "said once";
  EXPECT_EQ(events("evaluation_left_out")[0].at("step"), 4);
  EXPECT_EQ(events("evaluation_left_out")[0].at("why"),
            "an evaluation takes about 15s, and 13s are left");
  // The next start makes up for it, and has time for one more.
  const std::int64_t stopped_at = events("stop").back().at("step");
  EXPECT_EQ(train_slowly(40, /*resume=*/true), TrainEnd::stopped);
  EXPECT_EQ(steps_of("eval").at(1), stopped_at);
  EXPECT_LE(clock.now, 40);
}

TEST_F(QuotaIsKept, ByGivingUpAFirstEvaluationThatTurnsOutTooLong) {
  EXPECT_EQ(train_slowly(14.5), TrainEnd::stopped);
  EXPECT_LE(clock.now, 14.5);
  EXPECT_TRUE(events("eval").empty());
  ASSERT_EQ(events("evaluation_given_up").size(), 1U);
  EXPECT_EQ(events("evaluation_given_up")[0].at("expected_s"), 15);
  EXPECT_EQ(newest_good(run.checkpoints())->step, 4) << "2 s were left for steps";
}

TEST_F(QuotaIsKept, ByStoppingBeforeAnEvaluationAtTheEnd) {
  plan.total_steps = 5;
  options.eval.every_steps = 0;
  expected.parts.evaluation_s = 15;
  EXPECT_EQ(train_slowly(10), TrainEnd::stopped);
  EXPECT_EQ(clock.now, 5);
  EXPECT_EQ(events("stop").back().at("step"), 5);
  EXPECT_EQ(train_slowly(0, /*resume=*/true), TrainEnd::finished);
  EXPECT_EQ(steps_of("eval"), (std::vector<std::int64_t>{5}));
}

TEST_F(QuotaIsKept, AndWhatAnEvaluationIsGuessedToTakeHoldsForThatOneAlone) {
  slow.first_step_more_s = 30;
  slow.batch_s = 0.5;
  plan.valid_samples = slow.valid_samples = 24;
  plan.total_steps = 4;
  options.eval.every_steps = 1;
  EXPECT_EQ(train_slowly(100), TrainEnd::finished);
  EXPECT_EQ(steps_of("evaluation_left_out"), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(steps_of("eval"), (std::vector<std::int64_t>{2, 3, 4}));
}

TEST_F(QuotaIsKept, ByWhatFollowsAStartThatOnlyEvaluates) {
  plan.total_steps = 5;
  options.eval.every_steps = 0;
  expected.parts.evaluation_s = 15;
  EXPECT_EQ(train_slowly(10), TrainEnd::stopped);
  EXPECT_EQ(train_slowly(40, /*resume=*/true), TrainEnd::finished);
  EXPECT_EQ(steps_of("eval"), (std::vector<std::int64_t>{5}));
  EXPECT_NEAR(events("end").back().at("left_s").get<double>(), 40 - clock.now, 1e-9);
}

TEST_F(QuotaIsKept, ButABudgetThatWasSpentBeforeLimitsNothingThatFollows) {
  options.eval.every_steps = 0;
  options.stop.budget.seconds = 6;
  EXPECT_EQ(train_slowly(0), TrainEnd::stopped);
  EXPECT_TRUE(events("stop").back().contains("left_s"));
  options.stop.budget.seconds = 3;
  EXPECT_EQ(train_slowly(0, /*resume=*/true), TrainEnd::stopped);
  EXPECT_FALSE(events("stop").back().contains("left_s"));
}

TEST_F(QuotaIsKept, ForPredictionsThatTakeAsLongAsEvaluationsShow) {
  slow.batch_s = 2;  // 12 samples in 6 s, so 24 items in 12 s
  options.stop.reserve.seconds = 4;
  expected.after = {.predicts = true, .items = 24, .reserve_is_guess = true};
  EXPECT_EQ(train_slowly(40), TrainEnd::stopped);
  EXPECT_LE(clock.now, 40 - 1.15 * 12 - 2);
  EXPECT_GE(clock.now, 23);
  ASSERT_EQ(events("quota").size(), 1U);
  EXPECT_EQ(events("quota")[0].at("why"), "by this evaluation predicting 24 items takes about 12s");
  EXPECT_EQ(events("stop").back().at("why"),
            "stop.after = 40s is over but for 16s that predictions need");
  EXPECT_NEAR(events("stop").back().at("left_s").get<double>(), 40 - clock.now, 1e-9);
}

// A validation sample may cost more than an item, such as an episode of many images.
TEST_F(QuotaIsKept, ForAsLongAsEarlierPredictionsOfSuchItemsTook) {
  slow.batch_s = 2;
  options.stop.reserve.seconds = 4;
  expected.after = {.predicts = true, .items = 24};
  EXPECT_EQ(train_slowly(40), TrainEnd::stopped);
  EXPECT_GE(clock.now, 34);
  EXPECT_TRUE(events("quota").empty());
}

TEST_F(QuotaIsKept, AndAReserveThatIsGivenStays) {
  slow.batch_s = 2;
  options.stop.reserve.seconds = 4;
  expected.after = {.items = 24};
  EXPECT_EQ(train_slowly(40), TrainEnd::stopped);
  EXPECT_GE(clock.now, 34);
  EXPECT_TRUE(events("quota").empty());
}

// A recipe that gives its model first weights of its own.
class PretrainedRecipe : public NormRecipe {
 public:
  void initialise(Model& model) override {
    ++times;
    dynamic_cast<NormModel&>(model).head.set_data(at::ones({3, 5}));
  }
  int times = 0;
};

TEST_F(Train, InitialisesAtTheFirstStartAlone) {
  PretrainedRecipe pretrained;
  options.optimizer.weight_decay = 0;
  plan.schedule.base_lr = 0;
  plan.total_steps = 5;
  const auto train_it = [&](bool resume) {
    return lockstep::train({.options = options,
                            .plan = plan,
                            .recipe = pretrained,
                            .group = group,
                            .backend = cpu_backend(),
                            .run = run,
                            .clock = clock,
                            .resume = resume});
  };
  options.on_nan = OnNan::skip;
  train_it(/*resume=*/true);  // of a run without a checkpoint: a first start
  EXPECT_EQ(pretrained.times, 1);
  const auto newest = newest_good(run.checkpoints());
  EXPECT_TRUE(map_tensors(newest->path / "model.safetensors").at("head").equal(at::ones({3, 5})));
  plan.total_steps = 10;
  train_it(/*resume=*/true);
  EXPECT_EQ(pretrained.times, 1);
}

}  // namespace
}  // namespace lockstep
