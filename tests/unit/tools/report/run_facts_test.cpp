// Facts and measurements of run folders, good and bad.
#include "tools/report/facts/run_facts.h"

#include "report_fixtures.h"

#include <algorithm>
#include <fstream>

#include "core/base/files/files.h"
#include "fakes/error_of.h"
#include "fakes/written_runs.h"
#include "planning/options/train_options.h"
#include "tools/report/facts/option_kinds.h"
#include "tools/report/facts/run_log.h"

namespace lockstep {
namespace {

using lockstep::testing::gpu_csv;
using lockstep::testing::make_run;
using lockstep::testing::WrittenRun;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RunFacts : public ::testing::Test {
 protected:
  Trial facts_of(const WrittenRun& made) { return read_run_facts(make_run(folder.path(), made)); }
  double value(const Trial& trial, const char* name) {
    const Quantity* const quantity = trial.find(name);
    return quantity == nullptr ? NAN : quantity->value;
  }
  const TemporaryDirectory folder;
};

TEST_F(RunFacts, AreWhatReallyHappened) {
  const Trial trial = facts_of({.steps = 150, .global = 30, .train_samples = 3100});
  EXPECT_EQ(trial.value("data"), "d0");
  EXPECT_EQ(trial.value("cpu"), "Some CPU 9000");
  EXPECT_EQ(trial.value("devices"), "1 x NVIDIA H200");
  EXPECT_EQ(trial.value("optimizer.lr"), 1e-3);
  EXPECT_TRUE(trial.value("data.path").is_null()) << "where data lies is no fact of the work";
  EXPECT_EQ(trial.number("steps"), 150);
  EXPECT_EQ(trial.number("samples"), 3100 + 46 * 30) << "104 steps are an epoch";
  EXPECT_EQ(trial.number("tokens"), 16 * (3100 + 46 * 30));
  EXPECT_THAT(trial.cautions, IsEmpty());
}

TEST_F(RunFacts, ASteptimeLeavesOutTheFirstStep) {
  const Trial trial = facts_of({.step_s = 0.25, .first_step_s = 60});
  EXPECT_NEAR(value(trial, "step_s"), 0.25, 1e-9);
  EXPECT_NEAR(value(trial, "sample_s"), 0.25 / 32, 1e-9);
  EXPECT_NEAR(value(trial, "train_s"), 60 + 99 * 0.25, 1e-3);
  EXPECT_EQ(value(trial, "memory_bytes"), 1e9);
  EXPECT_EQ(value(trial, "best.loss"), 1.5);
}

TEST_F(RunFacts, WhichIsBetterFollowsFromTheEvaluationsThatWereTheBest) {
  const Trial trial = facts_of({});
  EXPECT_EQ(trial.metric, "loss");
  EXPECT_EQ(trial.metric_better, Better::lower);
  ASSERT_NE(trial.find("best.accuracy"), nullptr);
  EXPECT_EQ(trial.find("best.accuracy")->better, Better::unknown);
  EXPECT_EQ(trial.curve.size(), 5U);
}

TEST_F(RunFacts, TheTimePerSampleCountsNoPadding) {
  const Trial trial = facts_of({.steps = 100, .step_s = 0.25, .global = 8, .train_samples = 9});
  EXPECT_EQ(trial.number("samples"), 50 * 9);
  EXPECT_NEAR(value(trial, "sample_s"), 0.25 * 100 / 450, 1e-9);
}

TEST_F(RunFacts, WhatAResumeTookBackIsLeftOut) {
  const WrittenRun made{.steps = 40, .eval_every = 10};
  const RunDir run = make_run(folder.path(), made);
  {
    EventWriter writer(run.events_path());
    writer.write({{"kind", "resume"}, {"step", 30}, {"time", 2e6}});
    writer.write({{"kind", "start"}, {"step", 30}, {"time", 2e6}});
    for (int step = 31; step <= 50; ++step)
      writer.write({{"kind", "step"},
                    {"step", step},
                    {"time", 2e6 + step - 30},
                    {"step_s", 1.0},
                    {"loss", 1.0}});
  }
  const RunLog log = read_run_log(run.events_path());
  EXPECT_EQ(log.steps.size(), 50U);
  EXPECT_EQ(log.evals.size(), 3U);
  EXPECT_EQ(log.starts, 2);
  EXPECT_NEAR(log.train_s, 2 + 29 * 0.1 + 20, 1e-3) << "no time of the day between, none twice";
  EXPECT_THAT(read_run_facts(run).cautions, Contains(HasSubstr("started 2 times")));
}

TEST_F(RunFacts, AStartThatMadeNoStepChangesNothing) {
  RunDir run = make_run(folder.path(), {.steps = 40, .global = 32, .ends = false});
  nlohmann::json record = run.record();
  record["plan"]["batch"]["micro"] = 4;
  record["plan"]["precision"]["type"] = "fp32";
  run.write_record(record);
  EventWriter writer(run.events_path());
  const auto start = [&](int step, int micro, const char* precision) {
    writer.write({{"kind", "resume"}, {"step", step}, {"time", 2e6}});
    writer.write({{"kind", "start"},
                  {"step", step},
                  {"time", 2e6},
                  {"micro", micro},
                  {"precision", precision}});
  };
  const auto one_step = [&](int step) {
    writer.write({{"kind", "step"}, {"step", step}, {"time", 2e6}, {"step_s", 1.0}, {"loss", 1.0}});
  };
  start(40, 8, "bf16");
  start(40, 16, "bf16");
  one_step(41);
  start(41, 4, "fp32");
  const Trial trial = read_run_facts(run);
  EXPECT_EQ(trial.value("micro_batch"), nlohmann::json({32, 16}));
  EXPECT_EQ(trial.value("precision"), "bf16");
  one_step(42);
  EXPECT_EQ(read_run_facts(run).value("micro_batch"), nlohmann::json({32, 16, 4}));
}

TEST_F(RunFacts, AMicroBatchThatNeverFittedIsNone) {
  const RunDir run = make_run(folder.path(), {.steps = 0, .eval_every = 0, .ends = false});
  EventWriter writer(run.events_path());
  writer.write({{"kind", "memory"}, {"step", 0}, {"micro", 16}});
  writer.write({{"kind", "step"}, {"step", 1}, {"time", 2e6}, {"step_s", 1.0}, {"loss", 1.0}});
  EXPECT_EQ(read_run_facts(run).value("micro_batch"), 16);
}

TEST_F(RunFacts, WhatTheRunBeforeDidIsNotTheWorkOfOneThatWentOnFromIt) {
  RunDir run = make_run(folder.path(), {.steps = 150, .global = 30, .train_samples = 3100});
  nlohmann::json record = run.record();
  record["from"] = {{"run", "/elsewhere/first"}, {"step", 110}};
  run.write_record(record);
  const Trial trial = read_run_facts(run);
  EXPECT_EQ(trial.number("steps"), 40);
  EXPECT_EQ(trial.number("samples"), 40 * 30);
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("from step 110 of another run")));
}

TEST_F(RunFacts, SharesAndThePeakAreThoseOfAllSteps) {
  const RunDir run = make_run(folder.path(), {.steps = 0, .eval_every = 0, .ends = false});
  {
    EventWriter writer(run.events_path());
    const auto step = [&](int number, double step_s, double share, double peak) {
      writer.write({{"kind", "step"},
                    {"step", number},
                    {"time", 1'000'010 + number},
                    {"step_s", step_s},
                    {"loss", 1.0},
                    {"data_share", share},
                    {"memory", {{{"peak", 1.0}}, {{"peak", peak}}}}});
    };
    step(10, 1.0, 0.5, 5e9);
    step(30, 0.5, 0.2, 2e9);
    step(40, 0.5, 0.9, 9e9);
    writer.write({{"kind", "resume"}, {"step", 30}, {"time", 2e6}});
    writer.write({{"kind", "start"}, {"step", 30}, {"time", 2e6}});
    step(40, 1.0, 0.2, 1e9);
  }
  const Trial trial = read_run_facts(run);
  EXPECT_NEAR(value(trial, "data_share"), (0.5 * 10 + 0.2 * 10 + 0.2 * 10) / 30, 1e-9);
  EXPECT_EQ(value(trial, "memory_bytes"), 5e9) << "without what the resume took back";
  EXPECT_EQ(trial.find("wait_share"), nullptr);
}

TEST_F(RunFacts, DevicesAreThoseOfAllStarts) {
  const nlohmann::json one = {{{"kind", "cuda"}, {"name", "NVIDIA A100"}, {"uuid", "GPU-0"}}};
  const nlohmann::json two = {{{"kind", "cuda"}, {"name", "NVIDIA H200"}, {"uuid", "GPU-1"}}};
  const Trial moved = facts_of(
                  {.name = "a",
                   .more = {{"starts",
                             {{{"devices", one}}, {{"devices", two}}, {{"devices", one}}}}}}),
              stayed = facts_of({.name = "b"});
  EXPECT_EQ(moved.value("devices"), nlohmann::json({"1 x NVIDIA A100", "1 x NVIDIA H200"}));
  const Comparison found =
      compare({.name = "a", .trials = {moved}}, {.name = "b", .trials = {stayed}}, {});
  EXPECT_THAT(found.verdict, HasSubstr("against 1 x NVIDIA A100, 1 x NVIDIA H200"));
}

// The plan of run.json is that of the newest start, which may be of other devices and in another
// precision.
TEST_F(RunFacts, APlanOfTheNewestStartSaysNothingOfTheStepsBefore) {
  const RunDir run =
      make_run(folder.path(), {.steps = 100, .precision = "fp32", .peak_flops = 1e9});
  {
    EventWriter writer(run.events_path());
    const auto start = [&](int step, const char* precision, double peak) {
      writer.write({{"kind", "resume"}, {"step", step}, {"time", 2e6}});
      writer.write({{"kind", "start"},
                    {"step", step},
                    {"time", 2e6},
                    {"precision", precision},
                    {"peak_flops", peak}});
    };
    start(80, "bf16", 1e15);
    start(90, "fp16", 1e15);  // whose steps are taken back
    start(90, "fp32", 1e9);
    writer.write({{"kind", "stop"}, {"step", 100}, {"time", 2e6 + 1}});
  }
  const Trial trial = read_run_facts(run);
  EXPECT_EQ(trial.value("precision"), nlohmann::json({"bf16", "fp32"}));
  EXPECT_TRUE(trial.value("peak_flops").is_null());
  const Comparison found = compare({.name = "a", .trials = {trial}},
                                   {.name = "b", .trials = {facts_of({.name = "b"})}}, {});
  for (const RedFlag& flag : found.flags) EXPECT_NE(flag.name, "below_physical_floor") << flag.text;
}

TEST_F(RunFacts, SamplesAreThoseOfTheEpochsThatWereTrained) {
  WrittenRun made{.steps = 25, .global = 100, .train_samples = 1000};
  made.more["plan"] = testing::record_of(made).at("plan");
  made.more["plan"]["train_samples"] = 1'000'000;  // of which an epoch draws 1,000
  made.more["plan"]["epoch_size"] = 1000;
  EXPECT_EQ(facts_of(made).number("samples"), 2500);
  // 64 bits: a run of a month.
  made.more["plan"]["epoch_size"] = 4'000'000'000'000;
  made.more["plan"]["steps_per_epoch"] = 5;
  made.name = "long";
  EXPECT_EQ(facts_of(made).number("samples"), 2e13);
}

TEST_F(RunFacts, PathsThatDifferAreNotKnownToBeEqual) {
  const auto with_spec = [&](const char* name, const char* path) {
    WrittenRun made{.name = name};
    made.more["config"] = {{"optimizer.lr", 1e-3}, {"model.spec", path}, {"data.path", path}};
    return TrialGroup{.name = name, .trials = {facts_of(made)}};
  };
  const TrialGroup small = with_spec("a", "/m/small.json"), large = with_spec("b", "/m/large.json");
  const std::string text = comparison_text(compare(small, large, {}), 200);
  EXPECT_THAT(text, HasSubstr("model.spec"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("data.path"))) << "the data have a hash";
  EXPECT_THAT(comparison_text(compare(small, large, {.assumed = {"model.spec"}}), 200),
              HasSubstr("model.spec (taken to be equal)"));
  EXPECT_THAT(comparison_text(compare(small, with_spec("c", "/m/small.json"), {}), 200),
              ::testing::Not(HasSubstr("model.spec")));
}

TEST_F(RunFacts, TheTimeThatResultsTellIsTheOnlyOne) {
  const Trial trial =
      facts_of({.more = {{"results", {{"wall_s", 10}, {"auc", 0.5}}}, {"seconds", 12}}});
  EXPECT_EQ(std::count_if(trial.quantities.begin(), trial.quantities.end(),
                          [](const Quantity& one) { return one.name == "wall_s"; }),
            1);
  EXPECT_EQ(value(trial, "wall_s"), 10);
}

TEST_F(RunFacts, ClocksTenantsAndEnergyComeFromTheLogOfTheGpus) {
  const RunDir run = make_run(folder.path(), {.devices = 2});
  std::ofstream(run.path() / "gpu.csv")
      << gpu_csv(
             1'000'005, 1'000'015,
             {{.index = 0, .power_w = 500, .clock_mhz = 1800, .throttled = "power"},
              {.index = 1, .busy = 1, .sm = 0.5, .power_w = 100, .clock_mhz = 1800, .others = 3}})
      << "1000016,0,GPU-0,9";  // torn
  const Trial trial = read_run_facts(run);
  EXPECT_EQ(trial.number("clock_mhz"), 1800);
  EXPECT_EQ(trial.value("throttled_by"), nlohmann::json({"power"}));
  EXPECT_EQ(trial.number("other_processes"), 3);
  EXPECT_NEAR(value(trial, "energy_j"), 10 * 600, 1);
  EXPECT_NEAR(value(trial, "balance"), 0.5 / 80, 1e-9);
  EXPECT_THAT(trial.cautions, IsEmpty());
}

// They would be another run's.
TEST_F(RunFacts, OfALogOfTheGpusThatIsALinkAreNone) {
  const RunDir run = make_run(folder.path(), {});
  std::ofstream(folder.path() / "other.csv") << gpu_csv(1'000'005, 1'000'015, {{.power_w = 500}});
  std::filesystem::create_symlink(folder.path() / "other.csv", run.path() / "gpu.csv");
  EXPECT_EQ(read_run_facts(run).find("energy_j"), nullptr);
}

TEST_F(RunFacts, OfHalfWrittenRunsAreWhatIsThere) {
  const RunDir run = make_run(folder.path(), {.ends = false});
  std::ofstream(run.events_path(), std::ios::app)
      << "{\"kind\":\"step\",\"step\":\"x\"}\nno json\n{\"kind\":\"eval\",\"st";
  std::ofstream(run.path() / "gpu.csv") << "some,other\ntable,of\n";
  const Trial trial = read_run_facts(run);
  EXPECT_EQ(trial.number("steps"), 100);
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("interrupted")));
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("2 damaged lines")));
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("gpu.csv is left out")));
}

TEST_F(RunFacts, OfEmptyAndForeignRecordsAreUnknown) {
  const RunDir run = RunDir::create(folder.path(), "empty", "toy", [](RunDir& fresh) {
    fresh.write_record(nlohmann::json::object());
  });
  EXPECT_TRUE(read_run_facts(run).value("data").is_null());
  for (const char* text :
       {"{\"plan\":7,\"config\":[],\"devices\":{\"a\":1},\"starts\":3,\"init\":4}",
        "{\"plan\":{\"batch\":\"x\",\"steps_per_epoch\":-3,\"precision\":1,\"compute\":[]}}",
        "{\"devices\":[1,2],\"git\":\"x\",\"results\":{\"a\":[1],\"b\":null},\"lockstep\":99}"}) {
    std::ofstream(run.path() / "run.json") << text;
    EXPECT_NO_THROW(read_run_facts(run)) << text;
  }
  std::ofstream(run.path() / "run.json") << "{\"half\":";
  EXPECT_THAT(error_of([&] { read_run_facts(run); }), HasSubstr("run.json is damaged"));
}

TEST_F(RunFacts, LossesThatWereNoNumbersAreToldAndCompared) {
  const RunDir run = make_run(folder.path(), {.steps = 3, .eval_every = 0});
  EventWriter(run.events_path())
      .write({{"kind", "step"}, {"step", 4}, {"loss", NAN}, {"step_s", 0.1}});
  const Trial trial = read_run_facts(run);
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("was not finite")));
  EXPECT_TRUE(std::isnan(value(trial, "train_loss")));
}

TEST_F(RunFacts, WhatAnInitBeganWithIsItsFilesHashes) {
  const nlohmann::json init = {{"files", {{{"path", "/x"}, {"xxh3", "11"}}}}};
  const Trial a = facts_of({.name = "a", .more = {{"init", init}}}), b = facts_of({.name = "b"});
  EXPECT_NE(a.value("init"), b.value("init"));
}

TEST_F(RunFacts, ContentsOfDataAreAFactOfTheirOwn) {
  const Trial a = facts_of({.name = "a", .more = {{"data_hash", "1"}, {"data_contents", "2"}}});
  EXPECT_EQ(a.value("data"), "1");
  EXPECT_EQ(a.value("data.contents"), "2");
  EXPECT_FALSE(facts_of({.name = "b"}).facts.contains("data.contents"));
}

TEST_F(RunFacts, WhatAnOptionStoodForIsBesideItsValue) {
  nlohmann::json more = lockstep::testing::record_of({.name = "a"});
  more["config"]["episode.n_way"] = 0;
  EXPECT_TRUE(facts_of({.name = "a", .more = more}).stood_for.empty());
  more["used"] = {{"episode.n_way", 5}};
  const Trial told = facts_of({.name = "b", .more = more});
  EXPECT_EQ(told.value("episode.n_way"), 0);
  EXPECT_EQ(told.stood_for.at("episode.n_way"), 5);
}

TEST(OptionKinds, EveryOptionOfTheEngineHasOne) {
  const TrainOptions options;
  for (const OptionInfo& option : options.table.options())
    EXPECT_NE(engine_option(option.key), nullptr)
        << option.key
        << ": say in src/tools/report/facts/option_kinds.cpp what a difference in it means";
  EXPECT_EQ(option_kind("model.width"), FactKind::work) << "of a recipe";
  EXPECT_EQ(option_kind("run.note"), std::nullopt);
}

TEST(OptionKinds, ThoseThatChangeNoStepsCostAreOptionsOfTheEngine) {
  const TrainOptions options;
  std::vector<std::string> same;
  for (const OptionInfo& option : options.table.options())
    if (option_kind(option.key) == FactKind::work && step_costs_the_same(option.key, 1, 2))
      same.push_back(option.key);
  EXPECT_THAT(same, Contains("schedule.kind"));
  EXPECT_THAT(same, Contains("optimizer.weight_decay"));
  EXPECT_THAT(same, Not(Contains("optimizer.kind")));
  EXPECT_EQ(std::ranges::count_if(
                same, [](const std::string& key) { return !key.starts_with("schedule."); }),
            12)
      << "all that src/tools/report/facts/option_kinds.cpp names";
  EXPECT_FALSE(step_costs_the_same("ema.decay", 0, 0.9));
}

}  // namespace
}  // namespace lockstep
