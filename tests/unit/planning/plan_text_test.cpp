// The printed plan and its JSON say what the plan holds.
#include "core/base/text/text.h"
#include "plan_fixtures.h"
#include "planning/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

class PlanText : public ::testing::Test {
 protected:
  PlanText() {
    options.stop.steps = 100;
    options.precision = Precision::fp32;
    options.optimizer.lr = 0.0006;
    options.schedule.warmup = 10;
    options.schedule.min_lr = 0.00006;
  }

  Plan make() const { return make_plan(options, text_facts(), memory, devices, measured); }

  // The text with every run of white space as one space, so that line breaks do not matter.
  std::string words(bool curve = false, int width = 72) const {
    std::string text;
    for (const char c : to_text(make(), curve, width))
      if (c != '\n' && c != ' ')
        text += c;
      else if (!text.empty() && text.back() != ' ')
        text += ' ';
    return text;
  }

  std::vector<std::string> plot_lines(int width = 72) const {
    const std::string text = to_text(make(), true, width);
    return split(text.substr(text.find("\n\n") + 2), '\n');
  }

  TrainOptions options;
  MemoryEstimate memory{.fixed_bytes = gib, .per_sample_bytes = 0.1 * gib};
  MeasuredMemory measured;
  std::vector<Device> devices = gpus(2);
};

TEST_F(PlanText, NamesEveryRankAndItsDevice) {
  EXPECT_TRUE(contains(words(), "ranks 2: rank 0 on cuda:0, rank 1 on cuda:1 (Tesla T4, 16 GiB)"));
  devices = cpu_ranks(1);
  EXPECT_TRUE(contains(words(), "ranks 1: rank 0 on cpu:0 (CPU, 2 threads, 4 GiB)"));
  devices = gpus(2);
  devices[1].name = "NVIDIA L4";
  EXPECT_TRUE(contains(
      words(), "rank 0 on cuda:0 (Tesla T4, 16 GiB), rank 1 on cuda:1 (NVIDIA L4, 16 GiB)"));
}

TEST_F(PlanText, SaysHowTheGlobalBatchIsMade) {
  options.batch.micro = 8;
  EXPECT_TRUE(contains(words(), "global batch 64 = 2 GPUs x micro-batch 8 x accumulation 4"));
  EXPECT_TRUE(contains(words(), "a step 32768 tokens (64 samples)"));
}

TEST_F(PlanText, SaysHowLongTheRunIs) {
  EXPECT_TRUE(contains(words(), "length 100 steps = 6.25 epochs of 16 steps"));
  EXPECT_TRUE(contains(words(), "data 1000 training samples, 50 validation samples"));
  Plan plan = make();
  plan.valid_samples = 1;
  EXPECT_TRUE(contains(to_text(plan, false, 200), "1000 training samples, 1 validation sample\n"));
}

TEST_F(PlanText, SaysHowLargeTheModelIs) {
  EXPECT_TRUE(contains(words(), "parameters 1M trained memory"));
  Plan plan = make();
  plan.parameters = 0;
  EXPECT_TRUE(contains(to_text(plan, false, 200), "parameters     not known\n"));
}

TEST_F(PlanText, SaysTheCurveInWords) {
  EXPECT_TRUE(
      contains(words(), "warm-up over 10 steps to 0.0006, then cosine to 6e-05 at step 100"));
  options.schedule.kind = "cosine_restarts";
  options.schedule.parameters["period"] = 20;
  options.schedule.parameters["period_mult"] = 2;
  EXPECT_TRUE(contains(words(),
                       "cosine to 6e-05 over 20 steps, each period 2 times the last, restarts at "
                       "steps 30, 70"));
  options.schedule.kind = "one_cycle";
  EXPECT_TRUE(contains(words(),
                       "learning rate 0.0006, reached from 2.4e-05 at step 30, then cosine to "
                       "2.4e-09 at step 100"));
  EXPECT_TRUE(contains(words(), "schedule.kind = one_cycle has a rise and an end of its own"));
  options.schedule.warmup = options.schedule.min_lr = 0;
  EXPECT_FALSE(contains(words(), "of its own"));
  options.schedule.kind = "step";
  options.schedule.parameters["every"] = 30;
  EXPECT_TRUE(contains(words(), "learning rate 0.0006, x 0.1 every 30 steps"));
  options.schedule.kind = "constant";
  EXPECT_TRUE(contains(words(), "learning rate 0.0006, constant"));
}

TEST_F(PlanText, SaysWhetherMemoryIsEstimatedOrMeasured) {
  options.batch.micro = 8;
  EXPECT_TRUE(contains(words(), "memory 1.8 GiB needed of 14.2 GiB available per GPU (estimate)"));
  measured = {.micro = 8, .peak_bytes = 2 * gib};
  EXPECT_TRUE(contains(words(), "memory 2 GiB needed of 14.2 GiB available per GPU (measured)"));
  options.batch.micro = micro_auto;
  EXPECT_TRUE(contains(words(), "memory 2 GiB needed of 14.2 GiB available per GPU (tried out)"));
  measured = {};
  memory = {};
  EXPECT_TRUE(contains(words(), "memory not known"));
}

TEST_F(PlanText, PrintsEveryNote) {
  const Plan plan = make();
  ASSERT_FALSE(plan.notes.empty());
  for (const std::string& note : plan.notes) EXPECT_TRUE(contains(words(), "- " + note)) << note;
}

TEST_F(PlanText, EndsWithoutABlankLine) {
  for (const bool curve : {false, true}) {
    const std::string text = to_text(make(), curve);
    ASSERT_GT(text.size(), 2u);
    EXPECT_EQ(text.back(), '\n');
    EXPECT_NE(text[text.size() - 2], '\n');
  }
}

TEST_F(PlanText, StaysWithinTheWidthInPlainCharacters) {
  for (const int width : {40, 60, 72, 120}) {
    const std::string text = to_text(make(), true, width);
    for (const std::string& line : split(text, '\n'))
      EXPECT_LE(line.size(), static_cast<std::size_t>(width)) << line;
    EXPECT_TRUE(std::all_of(text.begin(), text.end(),
                            [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  }
}

TEST_F(PlanText, PlotsTheRateAgainstTheStep) {
  const auto lines = plot_lines();
  ASSERT_GE(lines.size(), 13u);
  EXPECT_TRUE(contains(lines[0], "rate"));
  EXPECT_TRUE(contains(lines[1], "6.0e-04 +"));
  EXPECT_TRUE(contains(lines[10], "0.0e+00 +"));
  EXPECT_TRUE(contains(lines[11], "+------"));
  EXPECT_TRUE(contains(lines[12], "step 100"));
}

// The rows of the stars in a plot, highest row = 9, as the mean of each column.
std::vector<double> heights(const std::vector<std::string>& lines) {
  std::vector<double> columns;
  for (std::size_t x = 11; x < 72; ++x) {
    double sum = 0, stars = 0;
    for (int row = 0; row < 10; ++row)
      if (x < lines[10 - row].size() && lines[10 - row][x] == '*') {
        sum += row;
        ++stars;
      }
    columns.push_back(stars > 0 ? sum / stars : -1);
  }
  return columns;
}

TEST_F(PlanText, PlotsAStarInEveryColumnAndTheShapeOfTheCurve) {
  const auto columns = heights(plot_lines());
  for (const double height : columns) EXPECT_GE(height, 0);
  const auto top = std::max_element(columns.begin(), columns.end());
  EXPECT_EQ(*top, 9);
  EXPECT_NEAR(top - columns.begin(), 6, 3);  // warm-up is a tenth of 61 columns
  EXPECT_TRUE(std::is_sorted(columns.begin(), columns.begin() + 5));
  EXPECT_TRUE(std::is_sorted(columns.rbegin(), columns.rbegin() + 50));
  EXPECT_EQ(columns.back(), 1);  // a tenth of the rate
}

TEST_F(PlanText, PlotsRunsOfAnyLength) {
  for (const std::int64_t steps :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{61}, std::int64_t{1000000000000}})
    for (const char* kind : {"constant", "linear", "cosine_restarts"}) {
      options.stop.steps = steps;
      options.schedule.kind = kind;
      options.schedule.warmup = 0;
      options.schedule.parameters["period"] = 20;
      const auto columns = heights(plot_lines());
      EXPECT_TRUE(std::all_of(columns.begin(), columns.end(), [](double h) { return h >= 0; }));
    }
}

TEST_F(PlanText, HasEveryNumberAsJson) {
  options.batch.micro = 8;
  const nlohmann::json json = to_json(make());
  EXPECT_EQ(json["batch"], (nlohmann::json{{"world_size", 2},
                                           {"micro", 8},
                                           {"accumulation", 4},
                                           {"global", 64},
                                           {"rows_per_sample", 1},
                                           {"norm_rows", 0},
                                           {"fixed_micro", false}}));
  EXPECT_EQ(json["epoch_size"], 1000);
  EXPECT_EQ(json["devices"].size(), 2u);
  EXPECT_EQ(json["devices"][1]["device"], "cuda:1");
  EXPECT_EQ(json["devices"][1]["name"], "Tesla T4");
  EXPECT_EQ(json["steps_per_epoch"], 16);
  EXPECT_EQ(json["total_steps"], 100);
  EXPECT_EQ(json["schedule"]["kind"], "cosine");
  EXPECT_EQ(json["schedule"]["base_lr"], 0.0006);
  EXPECT_EQ(json["schedule"]["warmup_steps"], 10);
  EXPECT_EQ(json["units_per_step"], 32768);
  EXPECT_EQ(json["unit"], "tokens");
  EXPECT_DOUBLE_EQ(json["memory"]["needed_bytes"],
                   memory.fixed_bytes + 8 * memory.per_sample_bytes);
  EXPECT_NEAR(json["memory"]["available_bytes"].get<double>(), 14.22 * gib, 1);
  EXPECT_EQ(json["memory"]["measured"], false);
  EXPECT_EQ(json["notes"].size(), make().notes.size());
  devices[0].memory_bytes = devices[1].memory_bytes = 0;
  EXPECT_TRUE(to_json(make())["memory"]["available_bytes"].is_null());
}

}  // namespace
}  // namespace lockstep
