// predict.also: the outputs of several runs, averaged.
#include "fakes/tenths.h"
#include "predict_fixture.h"

#include "core/base/text/text.h"

#include <cstdlib>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using testing::ToolResult;

class Averages : public Predict {
 protected:
  static void SetUpTestSuite() {
    Predict::SetUpTestSuite();
    write_file_atomic(folder->path() / "three.txt", "3\n");
    train("b", {"seed=9", "data.path=three.txt"});
    train("c", {"seed=10"});
    train("other", {"model.kind=other"});
    train("shape", {"data.unused=5"});
    ASSERT_EQ(tool({"export", "c", "--out", "c.safetensors"}).code, 0);
  }
  static void train(const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> words{
        "train",  "items", "--plugin",     plugin(),        "--devices",           "cpu:1",
        "--name", name,    "stop.steps=4", "ema.decay=0.5", "data.path=factor.txt"};
    words.insert(words.end(), more.begin(), more.end());
    const ToolResult trained = tool(words);
    ASSERT_EQ(trained.code, 0) << trained.err;
  }
  // What is predicted of in/r3.row, the numbers alone.
  static std::vector<double> predicted(const std::vector<std::string>& more,
                                       const std::string& devices = "cpu:1") {
    std::vector<std::string> words{"predict", more[0],     "in/r3.row", "in/r4.row",
                                   "out=out", "--devices", devices,     "--force"};
    words.insert(words.end(), more.begin() + 1, more.end());
    const ToolResult result = tool(words);
    EXPECT_EQ(result.code, 0) << result.err;
    std::vector<double> numbers;
    const auto lines = split(read_file(folder->path() / "out/r3.out"), '\n');
    for (std::size_t i = 1; i <= 12; ++i) numbers.push_back(std::strtod(lines[i].c_str(), nullptr));
    return numbers;
  }
};

TEST_F(Averages, AreOfAllRunsWithWhatEachOfThemPrepared) {
  if (!testing::has_turn_twice(4)) GTEST_SKIP() << testing::in_another_tenth;
  const auto a = predicted({"a"}), b = predicted({"b"}), c = predicted({"c"});
  ASSERT_NE(a, b);
  const auto all = predicted({"a", "also=b,c"}, "cpu:2");
  ASSERT_EQ(all.size(), 12U);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_NEAR(all[i], (a[i] + b[i] + c[i]) / 3, 1e-6) << i;
  EXPECT_EQ(predicted({"a", "also=b,c"}, "cpu:1"), all) << "on any number of devices";
}

TEST_F(Averages, TakeExportsAndRunsThatCannotBeWrittenTo) {
  if (!testing::has_turn_twice(1)) GTEST_SKIP() << testing::in_another_tenth;
  const auto all = predicted({"a", "also=b,c"});
  fs::create_directories(folder->path() / "copies");
  fs::copy(folder->path() / "runs/b", folder->path() / "copies/b", fs::copy_options::recursive);
  ASSERT_EQ(std::system(("chmod -R a-w " + (folder->path() / "copies").string()).c_str()), 0);
  const std::vector<std::string> words{
      testing::program("lockstep"),  "predict",    "a",         "in/r3.row",
      "also=copies/b,c.safetensors", "out=copied", "--devices", "cpu:1"};
  const ToolResult result = testing::without_root_powers(words, folder->path());
  ASSERT_EQ(std::system(("chmod -R u+w " + (folder->path() / "copies").string()).c_str()), 0);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("average of 3 runs: weights of steps 4, 4, 4"));
  EXPECT_EQ(read_file(folder->path() / "copied/r3.out"), read_file(folder->path() / "out/r3.out"));
  const auto exported = predicted({"c.safetensors", "also=a,b"});
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(exported[i], all[i], 1e-6);
}

TEST_F(Averages, RefuseWhatIsNoRunOfTheSameModelBeforeAnyWork) {
  if (!testing::has_turn_twice(4)) GTEST_SKIP() << testing::in_another_tenth;
  const auto refuses = [&](const std::string& run, const std::string& also,
                           const std::string& what) {
    const ToolResult result =
        tool({"predict", run, "in/r3.row", "also=" + also, "out=never", "--devices", "cpu:2"});
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(what));
    EXPECT_FALSE(fs::exists(folder->path() / "never/r3.out"));
  };
  refuses("a", "bb", "bb");
  refuses("a", "b,runs/b", "runs/b is named twice");
  refuses("a", "a", "a is named twice");
  refuses("a", "b,other", "other has model.kind = \"other\", not \"plain\"");
  refuses("a", "b,shape", "shape cannot be averaged with a: ");
  refuses("a", "shape", "unused must have shape [7], but has [5]");
}

TEST_F(Averages, AreRefusedByARecipeThatCannot) {
  write_file_atomic(folder->path() / "ids.txt", "r2\n");
  ASSERT_EQ(tool({"train", "found", "--plugin", plugin(), "--devices", "cpu:1", "--name", "f",
                  "stop.steps=2", "data.path=factor.txt"})
                .code,
            0);
  const ToolResult result = tool({"predict", "f", "also=a", "out=never", "--devices", "cpu:1"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("the recipe found cannot average the outputs of several runs, "
                                    "but predict.also names a"));
  const ToolResult wrong = tool({"predict", "a", "in/r3.row", "also=f", "out=never"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("f is a run of the recipe found, not of items"));
}

}  // namespace
}  // namespace lockstep
