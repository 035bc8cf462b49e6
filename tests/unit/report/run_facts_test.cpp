// Facts and measurements of run folders, good and bad.
#include "report/run_facts.h"

#include "report_fixtures.h"

#include <fstream>

#include "base/files.h"
#include "fakes/error_of.h"
#include "fakes/written_runs.h"
#include "plan/train_options.h"
#include "report/option_kinds.h"
#include "report/run_log.h"

namespace lockstep {
namespace {

using lockstep::testing::gpu_csv;
using lockstep::testing::make_run;
using lockstep::testing::WrittenRun;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

TEST(OptionKinds, EveryOptionOfTheEngineHasOne) {
  const TrainOptions options;
  for (const OptionInfo& option : options.table.options())
    EXPECT_NE(engine_option(option.key), nullptr)
        << option.key << ": say in src/report/option_kinds.cpp what a difference in it means";
  EXPECT_EQ(option_kind("model.width"), FactKind::work) << "of a recipe";
  EXPECT_EQ(option_kind("run.note"), std::nullopt);
}

}  // namespace
}  // namespace lockstep
