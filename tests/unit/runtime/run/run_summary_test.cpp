// What `lockstep runs` shows, from good and from damaged runs.
#include "runtime/run/folder/run_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "fakes/fake_clock.h"
#include "run_fixtures.h"
#include "runtime/run/checkpoint/checkpoint_writer.h"
#include "runtime/run/events/events.h"
#include "runtime/run/progress/progress.h"
#include "runtime/run/progress/progress_text.h"
#include "runtime/run/progress/scaling_table.h"

namespace lockstep {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class RunSummaries : public ::testing::Test {
 protected:
  RunSummaries() {
    clock.wall = 10'000;
    run.write_record(
        {{"lockstep", "0.1.0"},
         {"recipe", "toy"},
         {"plugin", ""},
         {"config", {{"seed", 7}, {"data.path", "a b"}}},
         {"plan", {{"total_steps", 50}}},
         {"devices", {device("cuda", "NVIDIA T4"), device("cuda", "NVIDIA T4")}},
         {"host", "box"},
         {"torch", "2.11.0"},
         {"started", 10'000 - 7200},
         {"git", {{"commit", std::string(40, 'c')}, {"branch", "trunk"}, {"dirty", true}}},
         {"command", {"lockstep", "train", "toy"}}});
  }
  static json device(const std::string& kind, const std::string& name) {
    return {{"kind", kind}, {"name", name}, {"uuid", ""}, {"index", 0}};
  }
  void train(std::int64_t from, std::int64_t to) {
    EventWriter writer(run.events_path());
    writer.write({{"kind", "start"}, {"step", from}, {"total_steps", 100}, {"unit", "tokens"}});
    if (from > 0) writer.write({{"kind", "resume"}, {"step", from}});
    for (std::int64_t step = from + 1; step <= to; ++step) {
      writer.write({{"kind", "step"},
                    {"step", step},
                    {"loss", 5.0 - 0.01 * step},
                    {"lr", 1e-3},
                    {"units_per_s", 2000}});
      if (step % 10 == 0)
        writer.write({{"kind", "eval"},
                      {"step", step},
                      {"best", step <= 30},
                      {"metrics", {{"loss", 4.0 - 0.01 * step}}}});
    }
  }
  RunSummary summary() { return summarize(run, clock); }
  std::string page() { return run_page(run, {}, clock); }

  TemporaryDirectory folder;
  std::filesystem::path root = folder.path();
  RunDir run = RunDir::create(root, "first", "toy");
  FakeClock clock;
};

TEST_F(RunSummaries, TellLowSpeedsPerMinuteToo) {
  EventWriter writer(run.events_path());
  writer.write({{"kind", "start"}, {"step", 0}, {"unit", "samples"}});
  writer.write({{"kind", "step"}, {"step", 1}, {"units_per_s", 2.5}});
  EXPECT_THAT(page(), HasSubstr("2.5 samples/s (150/min)\n"));
  writer.write({{"kind", "end"}, {"step", 2}, {"units_per_s", 0.25}});
  EXPECT_THAT(page(), HasSubstr("speed     0.25 samples/s (15/min)\n"));
  EXPECT_EQ(summary_json(summary()).at("units_per_s"), 0.25);
}

TEST_F(RunSummaries, TellSpeedAndUtilisationOfTheNewestStart) {
  EventWriter writer(run.events_path());
  writer.write({{"kind", "start"}, {"step", 0}, {"unit", "tokens"}, {"mfu_unknown", ""}});
  writer.write({{"kind", "step"}, {"step", 1}, {"units_per_s", 1000}, {"mfu", 0.25}});
  EXPECT_EQ(summary().units_per_s, 1000);
  EXPECT_EQ(summary().mfu, 0.25);
  writer.write({{"kind", "end"}, {"step", 2}, {"units_per_s", 2000}, {"mfu", 0.5}});
  EXPECT_THAT(page(), HasSubstr("speed     2k tok/s\n  mfu       50.0% of the devices' peak\n"));
  EXPECT_EQ(summary_json(summary()).at("mfu"), 0.5);
  writer.write({{"kind", "resume"}, {"step", 2}});
  writer.write({{"kind", "start"}, {"step", 2}, {"unit", "tokens"}});
  writer.write({{"kind", "step"}, {"step", 3}, {"units_per_s", 1000}});
  EXPECT_THAT(page(), HasSubstr("speed     1k tok/s\n"));
  writer.write({{"kind", "end"}, {"step", 4}, {"units_per_s", 3000}});
  EXPECT_THAT(page(), HasSubstr("speed     3k tok/s  (from step 2 on)\n"));
}

TEST_F(RunSummaries, TellFromWhichStepOnTheirRatesAre) {
  EventWriter writer(run.events_path());
  writer.write({{"kind", "start"}, {"step", 7}});
  writer.write({{"kind", "step"}, {"step", 8}, {"units_per_s", 1000}});
  EXPECT_EQ(summary().rates_from, 0) << "of the newest steps";
  writer.write({{"kind", "end"}, {"step", 9}, {"units_per_s", 2000}});
  EXPECT_EQ(summary().rates_from, 7);
}

TEST_F(RunSummaries, ShowWhatTheNewestStartUpWasSpentOn) {
  EventWriter writer(run.events_path());
  writer.write({{"kind", "start"}, {"step", 0}});
  EXPECT_THAT(page(), Not(HasSubstr("start-up")));
  const json parts = json::parse(R"([["tool", 0.5], ["worker", 1.5]])");
  writer.write({{"kind", "startup"}, {"step", 1}, {"seconds", 2.0}, {"parts", parts}});
  EXPECT_THAT(page(), HasSubstr("start-up  2.0s: tool 0.50s, worker 1.50s\n"));
  EXPECT_EQ(run_json(run, true, clock).at("startup").at("parts"), parts);
}

TEST_F(RunSummaries, SayWhyUtilisationIsUnknown) {
  EventWriter writer(run.events_path());
  writer.write({{"kind", "start"}, {"step", 0}, {"mfu_unknown", "no peak is known for CPUs"}});
  writer.write({{"kind", "step"}, {"step", 1}, {"units_per_s", 1000}, {"mfu", nullptr}});
  EXPECT_THAT(page(), HasSubstr("mfu       unknown: no peak is known for CPUs\n"));
  const json data = summary_json(summary());
  EXPECT_TRUE(data.at("mfu").is_null());
  EXPECT_EQ(data.at("mfu_unknown"), "no peak is known for CPUs");
}

TEST_F(RunSummaries, SumARunUp) {
  train(0, 42);
  run.write_state(RunState::stopped, "time");
  const RunSummary s = summary();
  EXPECT_EQ(s.name, "first");
  EXPECT_EQ(s.recipe, "toy");
  EXPECT_EQ(s.state, RunState::stopped);
  EXPECT_EQ(s.why, "time");
  EXPECT_EQ(s.step, 42);
  EXPECT_EQ(s.total_steps, 100);
  EXPECT_NEAR(s.loss.value(), 4.58, 1e-9);
  EXPECT_EQ(s.best_step, 30);
  EXPECT_NEAR(s.best["loss"].get<double>(), 3.7, 1e-9);
  EXPECT_EQ(s.devices, "2 x NVIDIA T4");
  EXPECT_EQ(s.age_s, 7200);
}

TEST_F(RunSummaries, ARunThatHasNotBegunHasItsPlan) {
  const RunSummary s = summary();
  EXPECT_EQ(s.step, 0);
  EXPECT_EQ(s.total_steps, 50);
  EXPECT_EQ(s.loss, std::nullopt);
  EXPECT_TRUE(s.best.is_null());
}

TEST_F(RunSummaries, WhatAResumeTookBackDoesNotCount) {
  train(0, 42);
  train(15, 15);
  EXPECT_EQ(summary().step, 15);
  EXPECT_EQ(summary().loss, std::nullopt);
  EXPECT_EQ(summary().best_step, 10);
  train(15, 18);
  EXPECT_EQ(summary().step, 18);
  EXPECT_NEAR(summary().loss.value(), 4.82, 1e-9);
}

TEST_F(RunSummaries, TheStepIsTheOneItStoppedAtThoughItWasNotLogged) {
  train(0, 40);
  EventWriter writer(run.events_path());
  writer.write({{"kind", "checkpoint"}, {"step", 43}});
  EXPECT_EQ(summary().step, 43);
  writer.write({{"kind", "stop"}, {"step", 44}, {"why", "SIGINT"}});
  EXPECT_EQ(summary().step, 44);
  train(15, 15);
  EXPECT_EQ(summary().step, 15);
}

TEST_F(RunSummaries, TheNewestStartTellsTheDevices) {
  json record = run.record();
  record["starts"] = {{{"time", 1}, {"devices", {device("cuda", "NVIDIA T4")}}, {"step", 0}},
                      {{"time", 2}, {"devices", {device("cpu", "CPU")}}, {"step", 5}}};
  run.write_record(record);
  EXPECT_EQ(summary().devices, "1 x CPU");
}

TEST_F(RunSummaries, DevicesAreCountedByName) {
  EXPECT_EQ(devices_text({device("cuda", "A"), device("cuda", "B"), device("cuda", "A")}),
            "2 x A, 1 x B");
  EXPECT_EQ(devices_text({"cpu:0", "cpu:1"}), "1 x cpu:0, 1 x cpu:1");
  EXPECT_EQ(devices_text({{{"kind", "cpu"}}, 7}), "1 x cpu, 1 x ?");
  EXPECT_EQ(devices_text(nullptr), "");
}

TEST_F(RunSummaries, AreValidJsonWhateverTheLoss) {
  EventWriter writer(run.events_path());
  writer.write({{"kind", "step"}, {"step", 1}, {"loss", NAN}});
  EXPECT_TRUE(std::isnan(summary().loss.value()));
  const json value = json::parse(summary_json(summary()).dump());
  EXPECT_TRUE(value["loss"].is_null());
  EXPECT_EQ(value["state"], "interrupted");
  EXPECT_EQ(value["step"], 1);
  EXPECT_THAT(runs_table({summary()}, 200), HasSubstr("nan"));
}

TEST_F(RunSummaries, TheTableHasARowARun) {
  train(0, 42);
  RunSummary other = summary();
  other.name = "a-longer-name";
  other.step = 7;
  EXPECT_EQ(runs_table({summary(), other}, 200),
            "NAME           RECIPE  STATE          STEP   LOSS  DEVICES        AGE\n"
            "first          toy     interrupted  42/100  4.580  2 x NVIDIA T4   2h\n"
            "a-longer-name  toy     interrupted   7/100  4.580  2 x NVIDIA T4   2h\n");
  EXPECT_EQ(runs_table({}, 80), "");
}

TEST_F(RunSummaries, TagsHaveAColumnWhereThereAreSome) {
  write_labels(run.path(), {.tags = {"sweep", "long"}, .note = "why it is"});
  EXPECT_THAT(runs_table({summary()}, 200), HasSubstr("long,sweep"));
  EXPECT_THAT(run_page(run), HasSubstr("why it is"));
  EXPECT_EQ(summary_json(summary())["tags"], json({"long", "sweep"}));
}

TEST_F(RunSummaries, TheMainResultOfATrainingInTheToolHasAColumn) {
  json record = run.record();
  record["results"] = {{"test.auc", 0.57123}, {"trees", 9}};
  record["main_result"] = "test.auc";
  run.write_record(record);
  EXPECT_THAT(runs_table({summary()}, 200), HasSubstr("test.auc 0.5712"));
  EXPECT_THAT(page(), HasSubstr("test.auc 0.5712"));
  EXPECT_EQ(summary_json(summary())["result_value"], 0.57123);
  record["results"] = json::object();
  run.write_record(record);
  EXPECT_THAT(runs_table({summary()}, 200), Not(HasSubstr("RESULT")));
}

TEST_F(RunSummaries, TheTableAlignsWideNames) {
  train(0, 42);
  RunSummary other = summary();
  other.name = "訓練";
  EXPECT_EQ(runs_table({summary(), other}, 200),
            "NAME   RECIPE  STATE          STEP   LOSS  DEVICES        AGE\n"
            "first  toy     interrupted  42/100  4.580  2 x NVIDIA T4   2h\n"
            "訓練   toy     interrupted  42/100  4.580  2 x NVIDIA T4   2h\n");
}

TEST_F(RunSummaries, TheTableLeavesColumnsOutWhereItIsNarrowAndNeverTheName) {
  train(0, 42);
  for (int width = 1; width < 120; ++width) {
    const std::string table = runs_table({summary()}, width);
    EXPECT_THAT(table, HasSubstr("first"));
    for (const std::string& line : split(table, '\n'))
      EXPECT_LE(cells_of(line), std::max(width, 5));
  }
  EXPECT_THAT(runs_table({summary()}, 50), Not(HasSubstr("NVIDIA")));
  EXPECT_THAT(runs_table({summary()}, 50), HasSubstr("42/100"));
}

TEST_F(RunSummaries, ThePageShowsRecordProgressAndCheckpoints) {
  train(0, 42);
  for (std::int64_t step : {10, 20}) {
    CheckpointWriter writer(run.checkpoints(), step);
    writer.append("model.safetensors", "weights", 7);
    writer.commit({{"loss", 2.5}});
  }
  put(run.checkpoints() / "step-000000020" / "model.safetensors", "weighty");
  const std::string text = page();
  for (const char* part :
       {"run first\n", "state     interrupted", "recipe    toy", "(2h ago)", "host      box",
        "devices   2 x NVIDIA T4", "lockstep 0.1.0, torch 2.11.0",
        "git       cccccccccccc on trunk, with changes", "command   lockstep train toy",
        "step      42/100  loss 4.580  lr 1.0e-03  2k tok/s", "best      at step 30  loss 3.700",
        "  step 40  loss 3.600\n", "  step 10  ", "good  loss 2.500",
        "damaged: model.safetensors: checksum differs", "* training   o validation\n"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_LT(text.find("o validation"), text.find("evaluations"));
  EXPECT_THAT(text, Not(HasSubstr("seed = 7\n")));
  const std::string whole = run_page(run, {.config = true}, clock);
  EXPECT_THAT(whole, HasSubstr("data.path = a b\n"));
  EXPECT_THAT(whole, HasSubstr("seed = 7\n"));
  EXPECT_EQ(whole.substr(0, text.size()), text);
  EXPECT_THAT(run_page(run, {.thorough = false}, clock), HasSubstr("good by size"));
  const json value = run_json(run, true, clock);
  EXPECT_EQ(value["checkpoints"][0]["good"], true);
  EXPECT_EQ(value["checkpoints"][1]["good"], false);
  EXPECT_EQ(value["record"]["config"]["seed"], 7);
  EXPECT_EQ(value["evals"].size(), 4u);
  EXPECT_EQ(value["curve"]["training"]["step"].size(), 42u);
  EXPECT_EQ(value["curve"]["validation"]["loss"].size(), 4u);
}

TEST_F(RunSummaries, ShowAMetricThatIsInfiniteAsSuch) {
  EventWriter(run.events_path())
      .write({{"kind", "eval"},
              {"step", 10},
              {"best", true},
              {"metrics", {{"loss", 834.5}, {"perplexity", nullptr}}},
              {"infinite", {{"perplexity", "inf"}}}});
  CheckpointWriter writer(run.checkpoints(), 10);
  writer.append("model.safetensors", "weights", 7);
  writer.commit({{"loss", 834.5}, {"perplexity", nullptr}});
  const std::string text = page();
  EXPECT_THAT(text, HasSubstr("best      at step 10  loss 834.5"));
  EXPECT_THAT(text, HasSubstr("good  loss 834.5"));
  EXPECT_THAT(text, HasSubstr("perplexity inf"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST_F(RunSummaries, ShowTheFilesThatARunHolds) {
  EXPECT_THAT(page(), Not(HasSubstr("\nfiles\n")));
  const auto file = [&](const std::string& name) {
    const std::filesystem::path path = run.path() / name;
    std::filesystem::create_directories(path.parent_path());
    put(path, "1234");
  };
  for (const char* name :
       {"evaluations/step-000000020/items.csv", "evaluations/step-000000020/metrics.json",
        "evaluations/.tmp-step-000000030/items.csv", "predictions/sub/a.png", "gpu.csv"})
    file(name);
  for (const char* letter : {"a", "b", "c", "d", "e", "f"})
    file(std::string("media/step-000000020/") + letter + ".png");
  EXPECT_THAT(page(), HasSubstr("\nfiles\n"
                                "  evaluations/step-000000020  8 B  items.csv, metrics.json\n"
                                "  media/step-000000020  24 B  6 files\n"
                                "  predictions  4 B  sub/a.png\n"
                                "  gpu.csv  4 B\n"));
  const json files = run_json(run, true, clock).at("files");
  ASSERT_EQ(files.size(), 4U);
  EXPECT_EQ(files[1].at("files").size(), 6U);
}

TEST_F(RunSummaries, ThePageShowsTheLastEvaluationsOfMany) {
  train(0, 300);
  EXPECT_THAT(page(), HasSubstr("evaluations (the last 10 of 30)"));
  EXPECT_THAT(page(), Not(HasSubstr("  step 200  ")));
  EXPECT_THAT(page(), HasSubstr("  step 210  "));
}

TEST_F(RunSummaries, SayWhyTheRecordOrTheStateCannotBeRead) {
  train(0, 5);
  EXPECT_EQ(summary().problem, "");
  put(run.path() / "state.json", "{}");
  std::filesystem::resize_file(run.path() / "state.json", std::uintmax_t{1} << 40);
  EXPECT_THAT(summary().problem, HasSubstr("state.json: it has 1 TiB"));
  EXPECT_THAT(summary().why, HasSubstr("state.json: it has 1 TiB"));
  std::filesystem::resize_file(run.path() / "run.json", std::uintmax_t{1} << 40);
  EXPECT_THAT(summary().problem, HasSubstr("run.json: it has 1 TiB"));
  EXPECT_EQ(summary().recipe, "?");
}

TEST_F(RunSummaries, SurviveRandomBytesInEveryFile) {
  train(0, 5);
  std::mt19937 random(16);
  for (int round = 0; round < 100; ++round) {
    for (const char* file : {"events.jsonl", "state.json", "run.json", "lock"}) {
      std::filesystem::remove(run.path() / file);
      put(run.path() / file, random_bytes(random, random() % 200) + "\n");
    }
    ASSERT_EQ(summary().recipe, "?");
    ASSERT_THAT(page(), HasSubstr("problem"));
    ASSERT_FALSE(run_json(run, true, clock).dump().empty());
  }
}

// Each kind of event with every value of every type in each of its keys, and numbers so large that
// sums of them overflow.
TEST_F(RunSummaries, SurviveEventsOfTheWrongShape) {
  const json values[] = {nullptr,
                         true,
                         "text",
                         -7,
                         1e300,
                         INT64_MAX,
                         INT64_MIN,
                         UINT64_MAX,
                         json::array({1, json::object()}),
                         json::object()};
  const char* kinds[] = {"start",  "step", "eval", "memory",  "graph",      "checkpoint",
                         "resume", "stop", "end",  "startup", "all_reduce", "micro"};
  const char* keys[] = {"step",    "total_steps", "captured",       "micro",
                        "ranks",   "metrics",     "best",           "parts",
                        "seconds", "mfu_unknown", "unit",           "eval_every_steps",
                        "quota_s", "skipped",     "steps_per_epoch"};
  for (const char* kind : kinds)
    for (const char* key : keys)
      for (const json& value : values) {
        std::filesystem::remove(run.events_path());
        json event = {{"kind", kind}, {"step", 3}, {"step_s", 0.1}, {"eval_batches", 2}};
        event[key] = value;
        const json step = {{"kind", "step"}, {"step", INT64_MIN}, {"step_s", 0.1}};
        put(run.events_path(), event.dump() + "\n" + step.dump() + "\n" + event.dump() + "\n");
        ASSERT_NO_THROW(page()) << event;
        const std::vector<json> events = read_events(run.events_path());
        ASSERT_NO_THROW(read_bench_run(events, 1)) << event;
        Progress progress({.terminal = true}, clock);
        for (const json& read : events) ASSERT_NO_THROW(progress.on_event(read)) << event;
      }
}

TEST_F(RunSummaries, SurviveARecordOfTheWrongShape) {
  const json values[] = {nullptr,
                         3,
                         "text",
                         json::array(),
                         json::object(),
                         {{"a", 1}},
                         json::array({1, json::object()})};
  const char* keys[] = {"recipe",  "plugin", "config",  "plan",   "devices", "host",
                        "started", "git",    "command", "starts", "torch"};
  for (const char* key : keys)
    for (const json& value : values) {
      json record = run.record();
      record[key] = value;
      std::filesystem::remove(run.path() / "run.json");
      put(run.path() / "run.json", record.dump());
      ASSERT_NO_THROW(page()) << key << value;
      ASSERT_NO_THROW(runs_table({summary()}, 80)) << key << value;
    }
}

}  // namespace
}  // namespace lockstep
