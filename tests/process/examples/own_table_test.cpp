// examples/own_table: from a CSV file to a file of predictions.
#include "fakes/task_runs.h"
#include "fakes/tenths.h"

#include "core/base/files/files.h"
#include "core/media/csv_table.h"

#include <gmock/gmock.h>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using testing::run_tool;
using testing::ToolResult;
namespace fs = std::filesystem;

class OwnTable : public testing::TaskRuns {
 protected:
  OwnTable() : TaskRuns("own-table") {}
  void SetUp() override { fs::copy_file(penguins, folder.path() / "penguins.csv"); }
  ToolResult train_on(const std::string& name, int ranks, const Words& more) const {
    Words words{"data.path=penguins.csv", "data.target=species", "data.without=year"};
    words.insert(words.end(), more.begin(), more.end());
    const ToolResult result = train("table", name, "cpu:" + std::to_string(ranks), words);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  ToolResult tool(const Words& words) const { return run_tool(words, folder.path()); }
  fs::path newest_evaluation(const std::string& name) const {
    fs::path newest;
    for (const auto& entry : fs::directory_iterator(run(name) / "evaluations"))
      newest = std::max(newest, entry.path());
    return newest;
  }
  CsvTable table(const std::string& name) const { return read_csv(folder.path() / name); }
  // A table without the column that is to be found.
  void write_birds(const std::string& name, int rows) const {
    const CsvTable all = read_csv(penguins);
    std::string text = "id;sex;island;body_mass_g;flipper_length_mm;bill_depth_mm;bill_length_mm\n";
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
      text += "bird " + std::to_string(row);
      for (const char* column :
           {"sex", "island", "body_mass_g", "flipper_length_mm", "bill_depth_mm", "bill_length_mm"})
        text += ";" + all.rows[row][all.column(column)];
      text += "\n";
    }
    write_file_atomic(folder.path() / name, text);
  }
  const fs::path penguins = fs::path(LOCKSTEP_SOURCE_DIR) / "examples/own_table/penguins.csv";
};

TEST_F(OwnTable, HasOneCurveOn1And3RanksAndLearns) {
  for (const int ranks : {1, 3}) train_on("on" + std::to_string(ranks), ranks, {"precision=fp32"});
  expect_same_curve("on3", "on1");
  EXPECT_GT(events("on3", "eval").back().at("metrics").at("accuracy").get<double>(), 0.9);
  const fs::path newest = newest_evaluation("on3");
  const CsvTable items = read_csv(newest / "items.csv");
  EXPECT_THAT(items.columns,
              ::testing::ElementsAre("line", "species", "predicted", "probability", "right"));
  EXPECT_EQ(read_csv(newest / "confusion.csv").rows.size(), 3U);
}

TEST_F(OwnTable, PredictsAFileOfOthersByWhatItLearnt) {
  if (!testing::has_turn_twice(4)) GTEST_SKIP() << testing::in_another_tenth;
  train_on("a", 2, {});
  write_birds("birds.csv", 300);
  fs::remove(folder.path() / "penguins.csv");
  for (const char* ranks : {"1", "3"}) {
    const ToolResult result = tool({"predict", "a", "birds.csv", std::string("out=on") + ranks,
                                    "copy=id", "--devices", std::string("cpu:") + ranks});
    ASSERT_EQ(result.code, 0) << result.err;
  }
  const std::string one = read_file(folder.path() / "on1/predictions.csv");
  EXPECT_EQ(read_file(folder.path() / "on3/predictions.csv"), one);
  const CsvTable found = table("on1/predictions.csv"), truth = read_csv(penguins);
  ASSERT_EQ(found.rows.size(), 300U);
  EXPECT_THAT(found.columns, ::testing::ElementsAre("file", "line", "id", "species", "p(Adelie)",
                                                    "p(Chinstrap)", "p(Gentoo)"));
  int right = 0;
  for (std::size_t row = 0; row < 300; ++row)
    right += found.rows[row][3] == truth.rows[row][truth.column("species")];
  EXPECT_GT(right, 285);
  EXPECT_EQ(found.rows[299][2], "bird 299");
  EXPECT_EQ(found.lines[299], 301);
}

TEST_F(OwnTable, TellsWhatItCannotUse) {
  if (!testing::has_turn_twice(3)) GTEST_SKIP() << testing::in_another_tenth;
  train_on("a", 1, {"stop.steps=3"});
  write_file_atomic(folder.path() / "few.csv", "sex,island\nmale,Dream\n");
  EXPECT_THAT(tool({"predict", "a", "few.csv"}).err,
              HasSubstr("few.csv has no column bill_length_mm"));
  write_birds("birds.csv", 5);
  std::string text = read_file(folder.path() / "birds.csv");
  text.replace(text.find("3750"), 4, "much");
  write_file_atomic(folder.path() / "birds.csv", text);
  const ToolResult some = tool({"predict", "a", "birds.csv", "--devices", "cpu:2"});
  EXPECT_EQ(some.code, 1);
  EXPECT_THAT(some.err, HasSubstr("birds.csv, line 2: body_mass_g is 'much', which is no number"));
  EXPECT_EQ(table("runs/a/predictions/predictions.csv").rows.size(), 4U);
  const ToolResult wrong =
      train("table", "b", "cpu:1", {"data.path=penguins.csv", "data.target=specie"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("the nearest of its columns is species"));
  const ToolResult evaluated = tool({"evaluate", "a", "data.valid=few.csv"});
  EXPECT_THAT(evaluated.err, HasSubstr("few.csv has no column species"));
}

TEST_F(OwnTable, DrawsAllClassesEquallyOften) {
  if (!testing::has_turn_twice(3)) GTEST_SKIP() << testing::in_another_tenth;
  train_on("a", 1, {"data.balance=true", "stop.epochs=4"});
  train_on("b", 3, {"data.balance=true", "stop.epochs=4"});
  expect_same_curve("b", "a");
}

TEST_F(OwnTable, IsExportedWithItsClasses) {
  train_on("a", 2, {"stop.epochs=5"});
  write_birds("birds.csv", 20);
  ASSERT_EQ(tool({"export", "a", "--out", "model.safetensors"}).code, 0);
  fs::rename(folder.path() / "runs", folder.path() / "away");
  const ToolResult result = tool({"predict", "model.safetensors", "birds.csv", "out=of-file"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(table("of-file/predictions.csv").rows.size(), 20U);
}

}  // namespace
}  // namespace lockstep
