// A recipe with a fault is refused before its first step, and by lockstep check; what evaluation
// leaves in the run.
#include "checkout_paths.h"
#include "fakes/events_of.h"
#include "fakes/tenths.h"
#include "fakes/tool.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using testing::run_tool;
using testing::ToolResult;

class Check : public ::testing::Test {
 protected:
  ToolResult tool(std::vector<std::string> words, const std::string& fault = "none") {
    words.insert(words.end(), {"--devices", "cpu:2"});
    if (words[0] != "evaluate") words.insert(words.end(), {"--plugin", plugin, "fault=" + fault});
    return run_tool(words, folder.path());
  }
  ToolResult train(const std::string& fault, const std::string& option = "stop.steps=3") {
    return tool({"train", "contract", "--name", fault, option, "eval.every_steps=1"}, fault);
  }

  const std::string plugin = std::string(LOCKSTEP_BUILD_DIR) + "/tests/libcontract-plugin.so";
  const TemporaryDirectory folder;
};

TEST_F(Check, FindsAGoodRecipeInOrder) {
  const ToolResult result = tool({"check", "contract"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("in order     loss: elements, rows over 2 rows"), std::string::npos)
      << result.out;
  EXPECT_FALSE(fs::exists(folder.path() / "runs" / "contract")) << "no run is made";
}

TEST_F(Check, NamesAFaultAndEndsWithAnError) {
  const ToolResult result = tool({"check", "contract", "--json"}, "mean");
  EXPECT_EQ(result.code, 1) << result.err;
  const auto found = nlohmann::json::parse(result.out);
  ASSERT_EQ(found.at("faults").size(), 1U);
  EXPECT_EQ(found["faults"][0].get<std::string>().find("the term elements of the loss is a mean"),
            0U);
}

TEST_F(Check, TakesWhatIsNoRunForARecipeWrittenWrongly) {
  const auto error_of = [&](const std::string& word) {
    const ToolResult result = run_tool({"check", word}, folder.path());
    EXPECT_EQ(result.code, 2) << result.err;
    return result.err;
  };
  const std::string typo = error_of("textgn");
  EXPECT_NE(typo.find("no recipe named \"textgn\", nor a run"), std::string::npos) << typo;
  EXPECT_NE(typo.find("did you mean \"textgen\"?"), std::string::npos) << typo;
  const std::string direct = error_of("gbdt");
  EXPECT_NE(direct.find("only train, config and batch"), std::string::npos) << direct;
}

TEST_F(Check, TrainingRefusesAMeanBeforeTheFirstStep) {
  const ToolResult refused = train("mean");
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_NE(refused.err.find("the term elements of the loss is a mean, not a sum"),
            std::string::npos)
      << refused.err;
  EXPECT_EQ(refused.err.find("step 1/3"), std::string::npos) << refused.err;
  fs::remove_all(folder.path() / "runs/mean");
  EXPECT_EQ(
      tool({"train", "contract", "--name", "mean", "stop.steps=3", "check.contract=false"}, "mean")
          .code,
      0);
}

TEST_F(Check, TrainingRefusesRecordsOfTheWrongShapeBeforeTheFirstStep) {
  const ToolResult refused = train("flat_records");
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("evaluate must return one record per row"), std::string::npos)
      << refused.err;
  EXPECT_TRUE(testing::events_of(folder.path() / "runs/flat_records/events.jsonl", "step").empty());
}

TEST_F(Check, LikelyFaultsAreWarnings) {
  const ToolResult trained = train("sum_beside_weight");
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.err.find("check of the recipe: the weight of the term rows does not grow"),
            std::string::npos)
      << trained.err;
}

TEST_F(Check, EvaluationsLeaveATableAndPicturesInTheRun) {
  if (!testing::has_turn_twice(0)) GTEST_SKIP() << testing::in_another_tenth;
  ASSERT_EQ(train("none", "eval.keep=1").code, 2) << "without an end nothing trains";
  const ToolResult trained = tool({"train", "contract", "--name", "a", "stop.steps=3",
                                   "eval.every_steps=1", "eval.keep=1", "optimizer.lr=0.01"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const fs::path run = folder.path() / "runs/a", tables = run / "evaluations/step-000000003";
  const std::string csv = read_file(tables / "items.csv");
  EXPECT_EQ(csv.substr(0, 23), "sample,squared_error\n0,");
  EXPECT_EQ(nlohmann::json::parse(read_file(tables / "items.json")).size(), 11U);
  EXPECT_EQ(nlohmann::json::parse(read_file(tables / "metrics.json")).at("step"), 3);
  EXPECT_EQ(read_file(run / "media/step-000000003/errors.svg"), "<svg/>");
  EXPECT_LE(std::distance(fs::directory_iterator(run / "evaluations"), fs::directory_iterator()),
            2);

  fs::remove_all(run / "evaluations");
  const ToolResult evaluated = tool({"evaluate", "a", "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(read_file(tables / "items.csv"), csv);
  const ToolResult elsewhere = tool({"evaluate", "a", "--items", "mine.json"});
  ASSERT_EQ(elsewhere.code, 0) << elsewhere.err;
  EXPECT_EQ(nlohmann::json::parse(read_file(folder.path() / "mine.json")).size(), 11U);

  ASSERT_EQ(run_tool({"export", "a", "--out", "a.model"}, folder.path()).code, 0);
  const ToolResult exported = tool({"evaluate", "a.model", "--items", "exported.csv"});
  EXPECT_EQ(exported.code, 0) << exported.err;
  EXPECT_EQ(read_file(folder.path() / "exported.csv"), csv);
  const ToolResult without = tool({"evaluate", "a.model"});
  EXPECT_EQ(without.code, 0) << without.err;
  EXPECT_EQ(without.err.find("items: "), std::string::npos) << "of a folder that is gone";
}

TEST_F(Check, AnEvaluationWithOptionsOfItsOwnHasAFolderOfItsOwn) {
  if (!testing::has_turn_twice(4)) GTEST_SKIP() << testing::in_another_tenth;
  ASSERT_EQ(tool({"train", "contract", "--name", "a", "stop.steps=3", "eval.every_steps=3"}).code,
            0);
  const fs::path run = folder.path() / "runs/a";
  const fs::path tables = run / "evaluations", of_training = tables / "step-000000003";
  write_file_atomic(of_training / "items.csv", "what training wrote");
  write_file_atomic(run / "media/step-000000003/errors.svg", "what training drew");
  const auto evaluate = [&](const std::string& option) {
    const ToolResult result = tool({"evaluate", "a", option, "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    return fs::path(nlohmann::json::parse(result.out).at("items").get<std::string>()).parent_path();
  };
  const fs::path one = evaluate("eval.batch=1"), two = evaluate("eval.batch=2");
  EXPECT_EQ(one, evaluate("eval.batch=1")) << "in place of its own";
  EXPECT_NE(one, two);
  EXPECT_EQ(std::distance(fs::directory_iterator(tables), {}), 3);
  for (const fs::path& own : {one, two}) {
    EXPECT_EQ(own.filename().string().find("step-000000003-"), 0U) << own;
    EXPECT_TRUE(fs::exists(own / "items.csv"));
    EXPECT_EQ(read_file(run / "media" / own.filename() / "errors.svg"), "<svg/>");
  }
  const auto metrics = nlohmann::json::parse(read_file(one / "metrics.json"));
  EXPECT_EQ(metrics.at("options"), nlohmann::json::parse(R"({"eval.batch": "1"})"));
  EXPECT_FALSE(metrics.at("best").get<bool>());
  EXPECT_EQ(read_file(of_training / "items.csv"), "what training wrote");
  EXPECT_EQ(read_file(run / "media/step-000000003/errors.svg"), "what training drew");
  ASSERT_EQ(tool({"evaluate", "a"}).code, 0);
  EXPECT_NE(read_file(of_training / "items.csv"), "what training wrote");
}

TEST_F(Check, ARunThatCannotBeWrittenToIsEvaluatedAllTheSame) {
  ASSERT_EQ(tool({"train", "contract", "--name", "a", "stop.steps=3", "eval.keep=0"}).code, 0);
  const fs::path run = folder.path() / "runs/a";
  EXPECT_FALSE(fs::exists(run / "evaluations"));
  write_file_atomic(run / "evaluations", "in the way, as where it may not be written to");
  const ToolResult evaluated = tool({"evaluate", "a", "eval.keep=1"});
  EXPECT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_NE(evaluated.out.find("squared_error"), std::string::npos);
  EXPECT_NE(evaluated.err.find("evaluations: Not a directory"), std::string::npos) << evaluated.err;
}

}  // namespace
}  // namespace lockstep
