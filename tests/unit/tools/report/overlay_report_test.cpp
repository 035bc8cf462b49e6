#include "tools/report/reports/overlay_report.h"

#include <gtest/gtest.h>

#include "fakes/made_run.h"

namespace lockstep {
namespace {

using testing::MadeRun;

class Overlay : public ::testing::Test {
 protected:
  std::vector<OverlaidRun> read(const std::vector<std::string>& names) const {
    std::vector<OverlaidRun> runs;
    for (const std::string& name : names)
      runs.push_back(
          read_overlaid_run(RunDir::open(name, folder.path()), {}, columns_for(names.size())));
    return runs;
  }
  const TemporaryDirectory folder;
};

TEST_F(Overlay, ShowsOnlyTheOptionsThatDiffer) {
  MadeRun::finished(folder.path() / "a");
  MadeRun b = MadeRun::finished(folder.path() / "b");
  b.record({{"config", {{"optimizer.lr", 0.25}, {"batch.global", 12}, {"seed", 7}}}});
  const std::string text = markdown_of(overlay_page(read({"a", "b"}), CurveAxis::samples));
  EXPECT_NE(text.find("| optimizer.lr | 0.5 | 0.25 |"), std::string::npos) << text;
  EXPECT_EQ(text.find("| seed |"), std::string::npos);
  EXPECT_NE(text.find("480 samples"), std::string::npos) << "40 steps of 12";
}

TEST_F(Overlay, DrawsTheTwentyWithTheLowestLossOfMany) {
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) {
    names.push_back(cat("run", i));
    MadeRun run(folder.path() / names.back());
    run.record();
    run.start(0);
    for (int s = 1; s <= 5; ++s) run.step(s, 100 - i);
  }
  const std::vector<OverlaidRun> runs = read(names);
  const std::string page = html_of(overlay_page(runs, CurveAxis::step));
  EXPECT_NE(page.find("Drawn are 20 of 30 runs"), std::string::npos);
  EXPECT_NE(page.find(">run29</text>"), std::string::npos) << "in the legend";
  EXPECT_EQ(page.find(">run5</text>"), std::string::npos);
  EXPECT_NE(page.find("<td>run5</td>"), std::string::npos) << "in the table";
  EXPECT_EQ(overlay_json(runs).at("runs").size(), 30U);
}

TEST_F(Overlay, SaysWhichRunsHaveNoCurveAndWhereOptionsAre) {
  MadeRun::finished(folder.path() / "a");
  MadeRun::finished(folder.path() / "b");
  MadeRun empty(folder.path() / "c");
  empty.record();
  const std::string page = markdown_of(overlay_page(read({"a", "b", "c"}), CurveAxis::step));
  EXPECT_NE(page.find("1 run has logged nothing and no curve"), std::string::npos) << page;
  EXPECT_EQ(page.find("Drawn are"), std::string::npos) << "all that could be";
  const std::string many =
      markdown_of(overlay_page(read(std::vector<std::string>(13, "a")), CurveAxis::step));
  EXPECT_NE(many.find("Of more than 12 runs they are not listed here"), std::string::npos);
}

TEST_F(Overlay, ARunThatCannotBeReadHidesNoOther) {
  MadeRun::finished(folder.path() / "a");
  MadeRun::finished(folder.path() / "b");
  write_file_atomic(folder.path() / "b/run.json", "{");
  const std::string page = html_of(overlay_page(read({"a", "b"}), CurveAxis::time));
  EXPECT_NE(page.find("training loss"), std::string::npos);
  EXPECT_NE(page.find("<td>b</td>"), std::string::npos);
}

TEST(ColumnsFor, ManyRunsShareWhatThereIs) {
  EXPECT_EQ(columns_for(1), 2048U);
  EXPECT_EQ(columns_for(100), 400U);
  EXPECT_EQ(columns_for(10'000), 16U);
}

}  // namespace
}  // namespace lockstep
