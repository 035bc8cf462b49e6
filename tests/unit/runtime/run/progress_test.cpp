// The progress display, on a terminal and in a log.
#include "runtime/run/progress/progress.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "fakes/fake_clock.h"
#include "run_fixtures.h"
#include "runtime/run/progress/progress_text.h"

namespace lockstep {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ProgressDisplay : public ::testing::Test {
 protected:
  void make(ProgressOptions options = {}) {
    options.write = [this](const std::string& text) { out += text; };
    progress = std::make_unique<Progress>(std::move(options), clock);
  }
  void start(json changes = json::object()) {
    json event = {{"kind", "start"},     {"step", 0},       {"total_steps", 20000},
                  {"unit", "tokens"},    {"quota_s", 0},    {"steps_per_epoch", 8000},
                  {"units_per_step", 8}, {"resumed", false}};
    event.update(changes);
    progress->on_event(event);
  }
  static json step(std::int64_t number, json changes = json::object()) {
    json event = {{"kind", "step"},         {"step", number},     {"loss", 3.2141},
                  {"lr", 5.9e-4},           {"step_s", 0.5},      {"units_per_s", 1.02e6},
                  {"data_share", 0.003},    {"wait_share", 0.01}, {"save_share", 0},
                  {"memory", json::array()}};
    event.update(changes);
    return event;
  }
  std::string shown(const json& event) {
    out.clear();
    progress->on_event(event);
    return out;
  }

  FakeClock clock;
  std::string out;
  std::unique_ptr<Progress> progress;
};

TEST_F(ProgressDisplay, ShowsItemsWithRateAndTimeLeft) {
  make();
  const auto items = [](int done, int skipped) {
    return json{{"kind", "items"}, {"done", done}, {"total", 40}, {"skipped", skipped}};
  };
  EXPECT_EQ(shown(items(0, 0)), "items 0/40\n");
  clock.sleep_s(10);
  shown(items(2, 0));  // the first ones came after the start
  clock.sleep_s(10);
  EXPECT_EQ(shown(items(22, 1)), "items 22/40  2 items/s (120/min)  eta 9s  skipped 1\n");
  EXPECT_EQ(shown(items(40, 1)), "items 40/40  2 items/s (120/min)  skipped 1\n")
      << "the end, at once, and the rate of the whole";
  json end = items(40, 1);
  end["time"] = 1763690000.5;
  EXPECT_EQ(shown(end), "") << "not a second time";
  EXPECT_THAT(shown(items(40, 2)), HasSubstr("skipped 2")) << "the last ones";
  EXPECT_EQ(shown({{"kind", "item_skipped"}, {"name", "a.tif"}, {"reason", "too dark"}}),
            "skipped a.tif: too dark\n");
}

TEST_F(ProgressDisplay, CountsNoItemsOfEarlierCommandsInTheRate) {
  make();
  const auto items = [](int done) {
    return json{{"kind", "items"}, {"done", done}, {"earlier", 30}, {"total", 40}};
  };
  EXPECT_EQ(shown(items(30)), "items 30/40\n");
  clock.sleep_s(5);
  EXPECT_EQ(shown(items(40)), "items 40/40  2 items/s (120/min)\n");
}

// Two volumes, of which each is predicted tile by tile.
TEST_F(ProgressDisplay, CountsTheStepsOfItems) {
  make();
  const auto items = [](int done, double work, double all, bool known) {
    return json{{"kind", "items"},     {"done", done},        {"total", 2},
                {"skipped", 0},        {"work_done", work},   {"work_total", all},
                {"work_known", known}, {"work_unit", "tiles"}};
  };
  json begin = items(0, 0, 0, false);
  begin.erase("work_unit");
  EXPECT_EQ(shown(begin), "items 0/2\n");
  clock.sleep_s(6);  // the first volume is read
  EXPECT_EQ(shown(items(0, 0.125, 40, false)), "items 0/2  tiles 0/~40\n");
  clock.sleep_s(5);
  EXPECT_EQ(shown(items(0, 10.125, 40, false)),
            "items 0/2  tiles 10/~40  2 tiles/s (120/min)  eta 15s\n");
  clock.sleep_s(5);
  EXPECT_EQ(shown(items(1, 20.125, 50, true)),
            "items 1/2  tiles 20/50  2 tiles/s (120/min)  eta 15s\n");
  clock.sleep_s(4);
  EXPECT_EQ(shown(items(2, 50, 50, true)), "items 2/2  tiles 50/50  2.5 tiles/s (150/min)\n");
}

TEST_F(ProgressDisplay, ShowsTheWholeLine) {
  make({.device_status = [] { return "2 GPUs 96% 95%"; }});
  start();
  EXPECT_EQ(shown(step(12000)),
            "epoch 2/3  step 12000/20000  loss 3.214  lr 5.9e-04  1.02M tok/s  2 GPUs 96% 95%  "
            "data 0.3%  eta 1h7m\n");
}

TEST_F(ProgressDisplay, ShowsUtilisationOrThatItIsUnknown) {
  make({.plain_every_s = 0});
  start();
  EXPECT_THAT(shown(step(1, {{"mfu", 0.41327}})), HasSubstr("1.02M tok/s  MFU 41.3%  data"));
  EXPECT_THAT(shown(step(2, {{"mfu", nullptr}})), HasSubstr("1.02M tok/s  MFU unknown  data"));
  EXPECT_THAT(shown(step(3)), Not(HasSubstr("MFU")));
}

TEST_F(ProgressDisplay, SaysWhatTheStartUpWasSpentOn) {
  make();
  start();
  const json parts = json::parse(R"([["tool", 0.31], ["worker", 0.9], ["first_step", 2.96]])");
  EXPECT_EQ(shown({{"kind", "startup"}, {"step", 1}, {"seconds", 4.17}, {"parts", parts}}),
            "start-up 4.2s: tool 0.31s, worker 0.90s, first step 2.96s\n");
  EXPECT_EQ(shown({{"kind", "graph"}, {"step", 4}, {"captured", true}, {"seconds", 0.4}}),
            "the step is one CUDA graph from step 4 on, recorded in 0.4s\n");
}

TEST_F(ProgressDisplay, TheEndSaysHowFastItWas) {
  make();
  start();
  json end = {{"kind", "end"},        {"step", 9}, {"seconds", 94}, {"unit", "tokens"},
              {"units_per_s", 19800}, {"mfu", 0.5}};
  EXPECT_EQ(shown(end), "finished at step 9 after 1m34s  19.8k tok/s  MFU 50.0%\n");
  end["mfu"] = nullptr;
  EXPECT_THAT(shown(end), EndsWith("19.8k tok/s  MFU unknown\n"));
  end.update({{"kind", "stop"}, {"why", "SIGINT"}});
  EXPECT_EQ(shown(end), "stopped at step 9: SIGINT  19.8k tok/s  MFU unknown\n");
}

TEST_F(ProgressDisplay, TheEndOfAResumedRunSaysOfWhichStepsItsSpeedIs) {
  make();
  shown({{"kind", "start"}, {"step", 6}, {"total_steps", 9}, {"unit", "tokens"}});
  json end = {{"kind", "end"}, {"step", 9}, {"seconds", 2}, {"units_per_s", 19800}};
  EXPECT_EQ(shown(end), "finished at step 9 after 2.0s  19.8k samples/s  (from step 6 on)\n");
  end.update({{"kind", "stop"}, {"why", "SIGINT"}});
  EXPECT_EQ(shown(end), "stopped at step 9: SIGINT  19.8k samples/s  (from step 6 on)\n");
  EXPECT_EQ(shown({{"kind", "end"}, {"step", 6}}), "finished at step 6\n");
}

TEST_F(ProgressDisplay, EpochsAreCountedFromOne) {
  make({.plain_every_s = 0});
  start();
  EXPECT_THAT(shown(step(1)), StartsWith("epoch 1/3"));
  EXPECT_THAT(shown(step(8000)), StartsWith("epoch 1/3"));
  EXPECT_THAT(shown(step(8001)), StartsWith("epoch 2/3"));
  EXPECT_THAT(shown(step(20000)), StartsWith("epoch 3/3"));
  start({{"steps_per_epoch", 0}});
  EXPECT_THAT(shown(step(1)), StartsWith("step 1/20000"));
}

TEST_F(ProgressDisplay, PlainLinesComeEveryFewSecondsAndAtTheEnd) {
  make({.plain_every_s = 5});
  start({{"total_steps", 100}});
  std::vector<int> steps;
  for (int i = 1; i <= 100; ++i) {
    clock.advance(0.7);
    if (!shown(step(i)).empty()) steps.push_back(i);
  }
  EXPECT_EQ(steps.front(), 1);
  EXPECT_EQ(steps.back(), 100);
  for (std::size_t i = 1; i + 1 < steps.size(); ++i) EXPECT_EQ(steps[i] - steps[i - 1], 8);
}

TEST_F(ProgressDisplay, PlainOutputHasNoControlCharacters) {
  make({.plain_every_s = 0});
  start();
  std::string all = shown(step(1));
  all += shown({{"kind", "warning"}, {"text", "red \x1b[31m\r\nalert"}});
  all += shown({{"kind", "eval"}, {"step", 1}, {"metrics", {{"loss", 2}}}, {"best", true}});
  progress->finish();
  for (char letter : all) EXPECT_TRUE(letter == '\n' || letter >= 0x20) << all;
  EXPECT_THAT(all, HasSubstr("warning: red"));
}

TEST_F(ProgressDisplay, OnATerminalOneLineIsRewritten) {
  make({.terminal = true, .width = 200});
  start();
  EXPECT_THAT(shown(step(1)), StartsWith("\r\x1b[K"));
  EXPECT_THAT(out, Not(HasSubstr("\n")));
  clock.advance(0.01);
  EXPECT_EQ(shown(step(2)), "");  // too soon
  clock.advance(0.2);
  EXPECT_THAT(shown(step(3)), HasSubstr("step 3/"));
  out.clear();
  progress->finish();
  EXPECT_EQ(out, "\n");
  progress->finish();
  EXPECT_EQ(out, "\n");
}

TEST_F(ProgressDisplay, OnATerminalAnEventsLineStandsAboveTheRewrittenOne) {
  make({.terminal = true, .width = 200});
  start();
  shown(step(1));
  const std::string text = shown({{"kind", "warning"}, {"text", "hot"}});
  EXPECT_THAT(text, StartsWith("\r\x1b[Kwarning: hot\n\r\x1b[K"));
  EXPECT_THAT(text, HasSubstr("step 1/20000"));
}

TEST_F(ProgressDisplay, KeepsPlainLinesWhateverTheTerminalIs) {
  std::string kept;
  make({.terminal = true,
        .colour = true,
        .width = 40,
        .plain_every_s = 5,
        .keep = [&](const std::string& text) { kept += text; }});
  start({{"total_steps", 100}});
  for (int i = 1; i <= 100; ++i) {
    clock.advance(0.7);
    shown(step(i));
    if (i == 2) shown({{"kind", "warning"}, {"text", "hot"}});
  }
  progress->note("a note");
  EXPECT_THAT(kept, Not(HasSubstr("\x1b")));
  EXPECT_THAT(kept, Not(HasSubstr("\r")));
  EXPECT_THAT(kept, HasSubstr("step 1/100  loss 3.214  lr 5.9e-04  1.02M tok/s"));
  EXPECT_THAT(kept, HasSubstr("\nwarning: hot\n"));
  EXPECT_THAT(kept, EndsWith("\na note\n"));
  EXPECT_THAT(kept, HasSubstr("step 100/100"));
  EXPECT_EQ(std::count(kept.begin(), kept.end(), '\n'), 1 + 12 + 1 + 2) << kept;
}

TEST_F(ProgressDisplay, ANoteIsALineOfItsOwn) {
  make({.terminal = true});
  start();
  progress->on_event(step(1));
  out.clear();
  progress->note("stopping after this step");
  EXPECT_THAT(out, StartsWith("\r\x1b[Kstopping after this step\n"));
  EXPECT_THAT(out, HasSubstr("step 1/20000")) << "the rewritten line stands below it again";
  make();
  out.clear();
  progress->note("stopping after this step");
  EXPECT_EQ(out, "stopping after this step\n");
}

TEST(FitLine, MeasuresWideCharactersAsATerminalDoes) {
  EXPECT_EQ(fit_line({{"訓練訓練", 1}, {"ab", 0}}, 12), "訓練訓練  ab");
  EXPECT_EQ(fit_line({{"訓練訓練", 1}, {"ab", 0}}, 11), "ab");
  EXPECT_EQ(fit_line({{"訓練訓練", 0}}, 5), "訓練");  // never a part of a character
}

TEST_F(ProgressDisplay, NeverIsWiderThanTheTerminalAndKeepsTheStepLongest) {
  for (int width = 1; width < 150; ++width) {
    make({.terminal = true, .width = width, .device_status = [] { return "2 GPUs 96% 95%"; }});
    start();
    const std::string line = shown(step(1200)).substr(4);
    EXPECT_LT(cells_of(line), std::max(width, 2)) << line;
    EXPECT_TRUE(width <= 16 || line.find("step 1200/20000") != std::string::npos) << line;
    EXPECT_TRUE(width <= 30 || line.find("loss 3.214") != std::string::npos) << line;
  }
}

TEST_F(ProgressDisplay, ALossThatIsNotANumberIsCalledSo) {
  make({.plain_every_s = 0});
  start();
  EXPECT_THAT(shown(step(1, {{"loss", NAN}})), HasSubstr("loss nan"));
  EXPECT_THAT(shown(step(2, {{"loss", nullptr}})), HasSubstr("loss nan"));  // from a file
  EXPECT_THAT(shown(step(3, {{"loss", INFINITY}})), HasSubstr("loss inf"));
  EXPECT_THAT(shown(step(4, {{"loss", "x"}})), HasSubstr("loss nan"));
  EXPECT_THAT(shown({{"kind", "eval"}, {"step", 4}, {"metrics", {{"bits", nullptr}}}}),
              HasSubstr("bits nan"));
}

TEST_F(ProgressDisplay, AMetricThatIsInfiniteIsCalledSo) {
  make({.plain_every_s = 0});
  start();
  nlohmann::json event{
      {"kind", "eval"}, {"step", 4}, {"metrics", {{"loss", 834.5}, {"e", nullptr}}}};
  EXPECT_THAT(shown(event), HasSubstr("e nan"));
  event["infinite"] = {{"e", "inf"}};
  EXPECT_THAT(shown(event), HasSubstr("e inf  loss 834.5"));
}

TEST_F(ProgressDisplay, AsksForTheDevicesAtMostOnceASecond) {
  int asked = 0;
  make({.terminal = true, .device_status = [&] { return cat("asked ", ++asked); }});
  start();
  for (int i = 1; i <= 50; ++i) {
    shown(step(i));
    clock.advance(0.1);
  }
  EXPECT_LE(asked, 6);
  EXPECT_GE(asked, 4);
}

TEST_F(ProgressDisplay, SaysWhenTheQuotaEndsFirst) {
  make({.plain_every_s = 0});
  start({{"quota_s", 3600}});
  clock.advance(2880);
  EXPECT_THAT(shown(step(1000)), HasSubstr("quota in 12m, before the end"));
  EXPECT_THAT(out, Not(HasSubstr("eta")));
  EXPECT_THAT(shown(step(19000)), HasSubstr("eta 8m20s"));
  EXPECT_THAT(out, Not(HasSubstr("quota")));
}

TEST_F(ProgressDisplay, SaysWhatDoesNotFitIntoTheQuota) {
  make({.plain_every_s = 0});
  start({{"quota_s", 3600}});
  EXPECT_EQ(shown({{"kind", "quota"},
                   {"step", 40},
                   {"quota_s", 720},
                   {"why", "by this evaluation predicting 25 items takes about 40m"}}),
            "by this evaluation predicting 25 items takes about 40m: training stops in 12m, in "
            "time for the "
            "predictions\n");
  EXPECT_THAT(shown(step(1000)), HasSubstr("quota in 12m, before the end"));
  EXPECT_EQ(
      shown({{"kind", "evaluation_left_out"},
             {"step", 40},
             {"why", "an evaluation takes about 14s, and 2s are left"}}),
      "no more evaluations from step 40 on: an evaluation takes about 14s, and 2s are left\n");
  EXPECT_EQ(
      shown(
          {{"kind", "evaluation_given_up"}, {"step", 40}, {"expected_s", 14.2}, {"limit_s", 5.5}}),
      "the evaluation at step 40 was given up: it would take 14.2s, and 5.5s were left\n");
}

TEST_F(ProgressDisplay, TheTimeLeftCountsEvaluations) {
  make({.plain_every_s = 0});
  start({{"total_steps", 1000}});
  for (int i = 1; i <= 100; ++i) {
    shown(step(i, {{"step_s", 1}}));
    if (i % 10 == 0)
      shown({{"kind", "eval"}, {"step", i}, {"seconds", 10}, {"metrics", json::object()}});
  }
  EXPECT_THAT(shown(step(101, {{"step_s", 1}})), HasSubstr("eta 30m"));
}

TEST_F(ProgressDisplay, TheTimeLeftLeavesOutWhatAnEvaluationTakesOnlyOnce) {
  make({.plain_every_s = 0});
  start({{"total_steps", 1000}});
  for (int i = 1; i <= 10; ++i) shown(step(i, {{"step_s", 1}}));
  shown({{"kind", "eval"},
         {"step", 10},
         {"seconds", 100},
         {"warm_up_s", 95},
         {"metrics", json::object()}});
  EXPECT_THAT(shown(step(11, {{"step_s", 1}})), HasSubstr("eta 25m"));
}

TEST_F(ProgressDisplay, TheShareOfWaitingIsThatOfManySteps) {
  make({.plain_every_s = 0});
  start();
  for (int i = 1; i <= 40; ++i) {
    const bool waits = i % 4 == 0;
    shown(step(i, {{"step_s", waits ? 1.0 : 0.1}, {"data_share", waits ? 0.9 : 0.0}}));
  }
  EXPECT_THAT(shown(step(41, {{"step_s", 0.1}, {"data_share", 0}})),
              ::testing::ContainsRegex("data (6[5-9]|7[0-5])%"));
}

TEST_F(ProgressDisplay, EachEventThatMattersGetsItsLine) {
  make();
  start();
  EXPECT_EQ(out, "");
  EXPECT_EQ(shown({{"kind", "eval"},
                   {"step", 1200},
                   {"metrics", {{"loss", 3.1}, {"bits_per_byte", 2.05}}},
                   {"best", true},
                   {"seconds", 2.12}}),
            "eval at step 1200  bits_per_byte 2.050  loss 3.100  in 2.1s  best so far\n");
  EXPECT_EQ(shown({{"kind", "checkpoint"},
                   {"step", 1200},
                   {"path", "step-000001200"},
                   {"bytes", 1 << 20},
                   {"seconds", 0.4}}),
            "checkpoint at step 1200  1 MiB  in 0.4s  step-000001200\n");
  EXPECT_EQ(shown({{"kind", "checkpoint_failed"}, {"step", 5}, {"why", "no space"}}),
            "warning: no checkpoint at step 5: no space; the run goes on\n");
  EXPECT_EQ(shown({{"kind", "resume"},
                   {"step", 40},
                   {"from", "step-000000040"},
                   {"skipped", {"step-000000050: torn", {{"path", "p"}, {"damage", "d"}}}}}),
            "warning: passed over a damaged checkpoint: step-000000050: torn\n"
            "warning: passed over a damaged checkpoint: p: d\n"
            "resumed at step 40  from step-000000040\n");
  EXPECT_EQ(shown({{"kind", "buckets"},
                   {"step", 0},
                   {"bytes", {1 << 20, 1 << 19}},
                   {"operation", "all_reduce"},
                   {"library", "NCCL"},
                   {"ranks", 2}}),
            "gradients: all-reduce over 2 ranks by NCCL, 2 buckets of 1.5 MiB in all\n");
  EXPECT_EQ(shown({{"kind", "buckets"}, {"bytes", {1 << 20}}}), "") << "of an older version";
  EXPECT_EQ(shown({{"kind", "stop"}, {"step", 7}, {"why", "interrupted"}}),
            "stopped at step 7: interrupted\n");
  EXPECT_EQ(shown({{"kind", "end"}, {"step", 9}, {"seconds", 320}}),
            "finished at step 9 after 5m20s\n");
  EXPECT_EQ(shown({{"kind", "of a later version"}}), "");
}

TEST_F(ProgressDisplay, ColourIsUsedOnlyWhenAskedFor) {
  const json event = {{"kind", "warning"}, {"text", "hot"}};
  make({.colour = true});
  EXPECT_EQ(shown(event), "\x1b[33mwarning: hot\x1b[0m\n");
  make({.colour = false});
  EXPECT_EQ(shown(event), "warning: hot\n");
}

TEST_F(ProgressDisplay, SurvivesEventsOfAnyShape) {
  make({.terminal = true});
  std::mt19937 random(15);
  const json values[] = {nullptr,    true,
                         -1,         1e308,
                         "text",     json::array({1, nullptr}),
                         {{"a", 1}}, std::numeric_limits<std::int64_t>::max(),
                         NAN};
  const char* kinds[] = {"start",   "step",   "eval", "checkpoint", "checkpoint_failed",
                         "warning", "resume", "stop", "end",        "buckets",
                         "x"};
  const char* keys[] = {"step",       "total_steps", "steps_per_epoch",
                        "unit",       "quota_s",     "loss",
                        "lr",         "step_s",      "units_per_s",
                        "data_share", "save_share",  "metrics",
                        "best",       "seconds",     "path",
                        "bytes",      "why",         "text",
                        "from",       "skipped",     "library"};
  for (int round = 0; round < 5000; ++round) {
    json event = {{"kind", kinds[random() % std::size(kinds)]}};
    for (const char* key : keys)
      if (random() % 2) event[key] = values[random() % std::size(values)];
    clock.advance(1);
    ASSERT_NO_THROW(progress->on_event(event)) << event.dump();
  }
  for (const json& value : values) ASSERT_NO_THROW(progress->on_event(value));
}

TEST(FormatRate, KnowsTheUnits) {
  EXPECT_EQ(format_rate(1.02e6, "tokens"), "1.02M tok/s");
  EXPECT_EQ(format_rate(812, "samples"), "812 samples/s");
  EXPECT_EQ(format_rate(3.4e9, "voxels"), "3.4G voxels/s");
  EXPECT_EQ(format_rate(NAN, "tokens"), "nan tok/s");
}

TEST(FormatRate, SaysLowRatesPerMinuteToo) {
  EXPECT_EQ(format_rate(9.9, "samples"), "9.9 samples/s (594/min)");
  EXPECT_EQ(format_rate(1.333, "volumes"), "1.33 volumes/s (80/min)");
  EXPECT_EQ(format_rate(0.0125, "samples"), "0.0125 samples/s (0.75/min)");
  EXPECT_EQ(format_rate(10, "samples"), "10 samples/s");
  EXPECT_EQ(format_rate(0, "samples"), "0 samples/s");
}

TEST(FormatLoss, ShowsEnoughDigits) {
  EXPECT_EQ(format_loss(3.2141), "3.214");
  EXPECT_EQ(format_loss(0), "0.000");
  EXPECT_EQ(format_loss(0.000123456), "0.000123");
  EXPECT_EQ(format_loss(-2.5), "-2.500");
  EXPECT_EQ(format_loss(1234567.0), "1.23457e+06");
}

}  // namespace
}  // namespace lockstep
