// The curves of a run as a picture.
#include "runtime/run/curves/curves.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "run_fixtures.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/folder/run_files.h"

namespace lockstep {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class Curves : public ::testing::Test {
 protected:
  void step(std::int64_t step, double loss) {
    add({{"kind", "step"}, {"step", step}, {"loss", loss}});
  }
  void eval(std::int64_t step, const json& metrics, const json& units = json::object()) {
    add({{"kind", "eval"}, {"step", step}, {"metrics", metrics}, {"units", units}});
  }
  void add(const json& event) { put(events, text += to_line(event) + "\n"); }
  std::string drawn() const {
    EXPECT_EQ(try_write_curves(folder.path(), events), "");
    return read_file(folder.path() / curves_name);
  }

  TemporaryDirectory folder;
  std::filesystem::path events = folder.path() / "events.jsonl";
  std::string text;
};

TEST_F(Curves, HaveAPanelOfLossesAndOnePerRate) {
  for (std::int64_t i = 1; i <= 20; ++i) step(i, 2.0 / static_cast<double>(i));
  eval(10, {{"loss", 1.5}, {"dice", 0.5}, {"iou", 0.4}, {"perplexity", 7}, {"bits", 0.9}},
       {{"bits", "bits/byte"}, {"dice", ""}});
  eval(20, {{"loss", 1.2}, {"dice", 0.7}, {"iou", nullptr}, {"perplexity", 0.5}, {"bits", 0.8}},
       {{"bits", "bits/byte"}});
  const RunCurves curves = read_curves(events);
  ASSERT_EQ(curves.rates.size(), 2U);
  EXPECT_EQ(curves.rates[0].name, "dice");
  ASSERT_EQ(curves.rates[0].points.size(), 2U);
  EXPECT_DOUBLE_EQ(curves.rates[0].points[1].loss, 0.7);
  const std::string svg = drawn();
  for (const char* shown :
       {">loss<", ">training<", ">validation<", ">dice (validation)<", ">iou (validation)<"})
    EXPECT_THAT(svg, HasSubstr(shown));
  EXPECT_THAT(svg, Not(HasSubstr("perplexity")));
  EXPECT_THAT(svg, Not(HasSubstr("bits")));
}

TEST_F(Curves, LeaveOutWhatAResumeTookBack) {
  step(1, 3);
  eval(10, {{"dice", 0.25}});
  eval(20, {{"dice", 0.875}});
  add({{"kind", "resume"}, {"step", 15}});
  eval(20, {{"dice", 0.5}});
  const RunCurves curves = read_curves(events);
  ASSERT_EQ(curves.rates.size(), 1U);
  ASSERT_EQ(curves.rates[0].points.size(), 2U);
  EXPECT_DOUBLE_EQ(curves.rates[0].points[1].loss, 0.5);
}

TEST_F(Curves, AreNotWrittenWithoutAPoint) {
  EXPECT_EQ(try_write_curves(folder.path(), events), "");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / curves_name));
}

TEST_F(Curves, SayWhyTheyCannotBeWritten) {
  step(1, 3);
  EXPECT_THAT(try_write_curves(folder.path() / "gone", events), HasSubstr("gone"));
}

TEST_F(Curves, AreAmongTheFilesOfARun) {
  step(1, 3);
  drawn();
  const std::vector<RunFolder> files = run_files(folder.path());
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].name, "curves.svg");
}

}  // namespace
}  // namespace lockstep
