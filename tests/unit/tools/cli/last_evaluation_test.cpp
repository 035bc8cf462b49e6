// What the end of a run shows of its newest evaluation.
#include "tools/cli/train/last_evaluation.h"

#include "core/base/files/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LastEvaluation : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const auto path = folder.path() / name;
    std::filesystem::create_directories(path.parent_path());
    write_file_atomic(path, text);
  }
  const TemporaryDirectory folder;
};

TEST_F(LastEvaluation, IsItsTableShortenedAndWherePicturesAre) {
  write("evaluations/step-000000002/items.csv", "id,dice\nold,0.5\n");
  write("evaluations/step-000000010/items.csv",
        "id,dice,voxels\na,0.123456789,12345678\nb,nan,3\n");
  write("media/step-000000010/a.png", "x");
  const std::string text = last_evaluation_text(folder.path());
  EXPECT_THAT(text, HasSubstr("id  dice    voxels\na   0.1235  12345678\nb   nan     3\n"));
  EXPECT_THAT(text, HasSubstr("step-000000010/items.csv: 2 rows\n"));
  EXPECT_THAT(text, HasSubstr("media/step-000000010: 1 file\n"));
  EXPECT_THAT(text, Not(HasSubstr("old")));
}

TEST_F(LastEvaluation, IsTheTrainingsNotOneWithOptionsOfItsOwn) {
  write("evaluations/step-000000002/items.csv", "id\nof training\n");
  write("evaluations/step-000000002-0a1b2c3d/items.csv", "id\nof another file\n");
  write("media/step-000000002-0a1b2c3d/a.png", "x");
  const std::string text = last_evaluation_text(folder.path());
  EXPECT_THAT(text, HasSubstr("of training"));
  EXPECT_THAT(text, Not(HasSubstr("0a1b2c3d")));
}

TEST_F(LastEvaluation, ShowsTheFirstRowsOfALongTable) {
  std::string table = "id\n";
  for (int i = 0; i < 20; ++i) table += "row" + std::to_string(i) + "\n";
  write("evaluations/step-000000001/items.csv", table);
  const std::string text = last_evaluation_text(folder.path(), 3);
  EXPECT_THAT(text, HasSubstr("row2"));
  EXPECT_THAT(text, Not(HasSubstr("row3")));
  EXPECT_THAT(text, HasSubstr("20 rows"));
}

TEST_F(LastEvaluation, LeavesOutColumnsForWhichThereIsNoRoom) {
  const std::string text(90, 'x'), longer(300, 'y');
  write("evaluations/step-000000001/items.csv",
        "id,text,other,last\na," + text + "," + longer + ",7\n");
  EXPECT_THAT(last_evaluation_text(folder.path()), HasSubstr("\na   " + text + "  7\n"));
  write("evaluations/step-000000002/items.csv", "id,other,last\na," + longer + ",7\n");
  EXPECT_THAT(last_evaluation_text(folder.path()),
              HasSubstr("\na   " + longer.substr(0, 99) + "…  7\n"));
}

TEST_F(LastEvaluation, IsEmptyWhereThereIsNone) {
  EXPECT_EQ(last_evaluation_text(folder.path()), "");
  write("evaluations/step-000000001/items.csv", "\"broken");
  EXPECT_EQ(last_evaluation_text(folder.path()), "");
}

TEST_F(LastEvaluation, HasTheOtherTablesOfItsStep) {
  write("evaluations/step-000000002/items.csv", "id\na\n");
  write("evaluations/step-000000002/classes.csv", "class,ap\ncat,0.5\n");
  write("evaluations/step-000000002/metrics.json", "{}");
  write("evaluations/step-000000004/later.csv", "id\nb\n");
  EXPECT_EQ(step_tables_text(folder.path(), 2), "\nclasses\nclass  ap\ncat    0.5\n");
  EXPECT_EQ(step_tables_text(folder.path(), 3), "");
}

TEST_F(LastEvaluation, ShowsNoTableThroughALink) {
  const TemporaryDirectory elsewhere;
  write_file_atomic(elsewhere.path() / "own.csv", "word\nsecret\n");
  write("evaluations/step-000000002/good.csv", "id\na\n");
  std::filesystem::create_symlink(elsewhere.path() / "own.csv",
                                  folder.path() / "evaluations/step-000000002/linked.csv");
  std::filesystem::create_symlink(elsewhere.path() / "own.csv",
                                  folder.path() / "evaluations/step-000000002/items.csv");
  std::filesystem::create_directory_symlink(elsewhere.path(),
                                            folder.path() / "evaluations/step-000000003");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(step_tables_text(folder.path(), 2), "\ngood\nid\na\n");
  EXPECT_EQ(step_tables_text(folder.path(), 3), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "warning: the table linked cannot be shown: it is reached through a link\n"
            "warning: the table own cannot be shown: it is reached through a link\n");
  EXPECT_EQ(last_evaluation_text(folder.path()), "");
}

}  // namespace
}  // namespace lockstep::cli
