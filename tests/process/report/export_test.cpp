// lockstep export of what a run logged. That other tools read it is tested in tests/process/python.
#include "fakes/made_run.h"
#include "fakes/tool.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using testing::MadeRun;
using testing::run_tool;
using testing::ToolResult;

class ExportNumbers : public ::testing::Test {
 protected:
  void SetUp() override { MadeRun::finished(folder.path() / "runs/first"); }
  ToolResult tool(std::vector<std::string> words) const {
    words.insert(words.begin(), {"export", "first"});
    return run_tool(words, folder.path());
  }
  const TemporaryDirectory folder;
};

TEST_F(ExportNumbers, WritesSeveralFormatsAtOnce) {
  const ToolResult result = tool({"--tensorboard", "tb", "--csv", "csv", "--mlflow", "mlruns"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("40 logged steps, 4 evaluations"), std::string::npos) << result.err;
  for (const char* file : {"csv/steps.csv", "csv/evaluations.csv", "csv/starts.csv"})
    EXPECT_TRUE(fs::exists(folder.path() / file)) << file;
}

TEST_F(ExportNumbers, NeverWritesAmongOtherFilesUnlessItIsTold) {
  ASSERT_EQ(tool({"--csv", "csv"}).code, 0);
  const ToolResult refused = tool({"--csv", "csv"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("there are files in csv already"), std::string::npos) << refused.err;
  EXPECT_EQ(tool({"--csv", "csv", "--force"}).code, 0);
  EXPECT_EQ(tool({"--mlflow", "mlruns"}).code, 0);
  EXPECT_EQ(tool({"--mlflow", "mlruns"}).code, 2) << "the run is there";
}

TEST_F(ExportNumbers, SaysWhyThereIsNoParquetAndHowToMakeIt) {
  const ToolResult result = tool({"--parquet", "tables"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("Parquet cannot be written"), std::string::npos);
  EXPECT_NE(result.err.find("lockstep export first --csv tables"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("to_parquet('tables/steps.parquet')"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder.path() / "tables"));
}

TEST_F(ExportNumbers, TheModelIsAnotherCommand) {
  EXPECT_EQ(tool({"--csv", "csv", "--out", "model.safetensors"}).code, 2);
  const ToolResult renamed = tool({"--csv", "csv", "--rename", "a=b"});
  EXPECT_EQ(renamed.code, 2);
  EXPECT_NE(renamed.err.find("--rename is about the model"), std::string::npos) << renamed.err;
  const ToolResult nothing = tool({});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_NE(nothing.err.find("--tensorboard DIR"), std::string::npos) << nothing.err;
}

TEST_F(ExportNumbers, ARunWithoutStepsIsSaidToHaveNone) {
  MadeRun empty(folder.path() / "runs/empty");
  empty.record();
  const ToolResult result = run_tool({"export", "empty", "--tensorboard", "tb"}, folder.path());
  EXPECT_EQ(result.code, 0);
  EXPECT_NE(result.err.find("no logged steps"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("nothing was written"), std::string::npos) << result.err;
  const ToolResult csv = run_tool({"export", "empty", "--csv", "csv"}, folder.path());
  EXPECT_NE(csv.err.find("csv/steps.csv, evaluations.csv and starts.csv was written"),
            std::string::npos)
      << csv.err;
}

}  // namespace
}  // namespace lockstep
