// The losses of a run, read and drawn.
#include "runtime/run/curves/loss_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/text/text.h"
#include "run_fixtures.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class LossCurves : public ::testing::Test {
 protected:
  void step(std::int64_t step, double loss) {
    add({{"kind", "step"}, {"step", step}, {"loss", loss}, {"loss_scale", 8}, {"time", 1}});
  }
  void eval(std::int64_t step, double loss) {
    add({{"kind", "eval"}, {"step", step}, {"metrics", {{"loss", loss}, {"other", 9}}}});
  }
  void add(const json& event) { text += to_line(event) + "\n"; }
  LossCurve read() {
    put(file, text);
    return read_loss_curve(file);
  }
  std::vector<std::string> plot(int width = 80) { return split(plot_losses(read(), width), '\n'); }

  TemporaryDirectory folder;
  std::filesystem::path file = folder.path() / "events.jsonl";
  std::string text;
};

std::size_t marks(const std::vector<std::string>& lines, char mark) {
  std::size_t count = 0;
  for (std::size_t i = 1; i < lines.size() && i <= 10; ++i)
    count += static_cast<std::size_t>(std::count(lines[i].begin() + 11, lines[i].end(), mark));
  return count;
}

TEST_F(LossCurves, AreReadWithoutWhatResumesTookBack) {
  for (std::int64_t i = 1; i <= 30; ++i) step(i, 5.0 - 0.1 * static_cast<double>(i));
  eval(20, 4);
  eval(30, 3);
  add({{"kind", "resume"}, {"step", 25}});
  step(26, 1);
  const LossCurve curve = read();
  ASSERT_EQ(curve.training.size(), 26u);
  EXPECT_EQ(curve.training.back().step, 26);
  EXPECT_DOUBLE_EQ(curve.training.back().loss, 1);
  ASSERT_EQ(curve.validation.size(), 1u);
  EXPECT_EQ(curve.validation[0].step, 20);
}

TEST_F(LossCurves, AreDrawnWithAMarkForEachSeries) {
  for (std::int64_t i = 1; i <= 200; ++i) step(i, 4.0 - 0.01 * static_cast<double>(i));
  for (const std::int64_t i : {50, 100, 150, 200}) eval(i, 3.9);
  const std::vector<std::string> lines = plot();
  EXPECT_THAT(lines[0], HasSubstr("loss"));
  EXPECT_THAT(lines[1], HasSubstr("3.98"));  // the mean of the first column at the top
  EXPECT_THAT(lines[1], HasSubstr("*"));
  EXPECT_EQ(marks(lines, 'o'), 4u);
  EXPECT_EQ(marks(lines, '*') + marks(lines, 'o'), 69u + 4u);
  EXPECT_THAT(lines[12], HasSubstr("step 200"));
  EXPECT_THAT(lines[13], HasSubstr("* training   o validation"));
}

TEST_F(LossCurves, StayWithinTheWidthInPlainCharacters) {
  for (std::int64_t i = 1; i <= 1000; ++i) step(i, -1.2345e-30 * static_cast<double>(i));
  step(1001, NAN);
  eval(1001, 7);
  for (const int width : {0, 30, 31, 40, 80, 100, 200})
    for (const std::string& line : plot(width)) {
      EXPECT_LE(line.size(), static_cast<std::size_t>(std::max(width, 30))) << line;
      for (const char c : line) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << line;
    }
}

TEST_F(LossCurves, OfFewStepsAreDrawnToo) {
  EXPECT_EQ(plot_losses(read(), 80), "");
  step(1, 2.5);
  EXPECT_EQ(marks(plot(), '*'), 1u);
  EXPECT_THAT(plot_losses(read(), 80), HasSubstr("step 1\n"));
  EXPECT_THAT(plot_losses(read(), 80), Not(HasSubstr("validation")));
  step(2, 2.5);
  EXPECT_EQ(marks(plot(), '*'), 2u);
}

TEST_F(LossCurves, OfEvaluationsAloneAreDrawn) {
  eval(0, 5);
  eval(10, 4);
  EXPECT_EQ(marks(plot(), 'o'), 2u);
  EXPECT_THAT(plot_losses(read(), 80), Not(HasSubstr("training")));
}

TEST_F(LossCurves, MarkWhereALossWasNotFinite) {
  for (std::int64_t i = 1; i <= 60; ++i) step(i, i == 30 || i == 31 ? NAN : 3);
  const std::vector<std::string> lines = plot();
  EXPECT_THAT(lines[1], HasSubstr("!"));
  EXPECT_THAT(lines[13], HasSubstr("! not finite (2)"));
  EXPECT_THAT(read().training[29].loss, ::testing::IsNan());
}

TEST_F(LossCurves, WithoutAFiniteLossAreNotDrawn) {
  step(1, NAN);
  EXPECT_EQ(plot_losses(read(), 80), "");
}

TEST_F(LossCurves, HaveALogarithmicAxisWhereTheyFallFar) {
  for (std::int64_t i = 1; i <= 100; ++i) step(i, std::pow(10.0, -static_cast<double>(i) / 25));
  EXPECT_THAT(plot()[0], HasSubstr("loss, log"));
  text.clear();
  for (std::int64_t i = 1; i <= 100; ++i) step(i, 10 - 0.05 * static_cast<double>(i));
  EXPECT_THAT(plot()[0], Not(HasSubstr("log")));
}

TEST_F(LossCurves, AreNumbersAsJson) {
  step(1, 2.5);
  step(2, NAN);
  eval(2, 2.25);
  EXPECT_EQ(losses_json(read()),
            json({{"training", {{"step", {1, 2}}, {"loss", {2.5, nullptr}}}},
                  {"validation", {{"step", json::array({2})}, {"loss", json::array({2.25})}}}}));
}

TEST_F(LossCurves, OfAnyNumbersAreDrawn) {
  for (const double loss : {1e308, -1e308, 5e-324, 0.0, 1e308}) step(1 << 20, loss);
  step(1, 1e308);
  EXPECT_GT(plot().size(), 10u);
}

}  // namespace
}  // namespace lockstep
