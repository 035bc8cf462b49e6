// Outputs under temporary names, and their way to their own.
#include "runtime/run/predictions/prediction_folder.h"

#include "core/base/files/files.h"
#include "fakes/error_of.h"
#include "runtime/run/predictions/item_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Predictions : public ::testing::Test {
 protected:
  TemporaryDirectory temporary;
  fs::path out = temporary.path() / "out";
};

TEST_F(Predictions, GetTheirNamesByARename) {
  const PredictionFolder folder(out);
  write_output(folder.scratch() / "a", "first");
  place_output(folder.scratch() / "a", out, "sub/x.txt", /*replace=*/false);
  EXPECT_EQ(read_file(out / "sub/x.txt"), "first");
  write_output(folder.scratch() / "b", "second");
  EXPECT_THAT(error_of([&] { place_output(folder.scratch() / "b", out, "sub/x.txt", false); }),
              HasSubstr("x.txt is there already"));
  EXPECT_EQ(read_file(out / "sub/x.txt"), "first");
  place_output(folder.scratch() / "b", out, "sub/x.txt", /*replace=*/true);
  EXPECT_EQ(read_file(out / "sub/x.txt"), "second");
}

TEST_F(Predictions, StayInTheirFolder) {
  const PredictionFolder folder(out);
  for (const char* name : {"../x", "/tmp/x", "a/../../x", "", "a/"}) {
    write_output(folder.scratch() / "a", "");
    EXPECT_NE(error_of([&] { place_output(folder.scratch() / "a", out, name, true); }), "") << name;
  }
}

TEST_F(Predictions, LeaveNothingUnfinishedBehind) {
  fs::create_directories(out / ".lockstep-predict-killed");
  write_output(out / ".lockstep-predict-killed/lock", "");
  {
    const PredictionFolder folder(out);
    EXPECT_FALSE(fs::exists(out / ".lockstep-predict-killed"));
    const PredictionFolder other(out);
    EXPECT_TRUE(fs::exists(folder.scratch())) << "its command lives";
    fs::create_directories(joint_folder(folder.scratch()));
    write_output(joint_folder(folder.scratch()) / "all.csv", "half");
    EXPECT_THAT(folder.keep_partial({"all.csv"}), ElementsAre("all.csv.partial"));
  }
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(out))
    left.push_back(entry.path().filename().string());
  EXPECT_THAT(left, ElementsAre("all.csv.partial"));
}

TEST_F(Predictions, LeaveFoldersAloneThatAreNoneOfTheirs) {
  for (const char* name : {".unfinished-thesis", ".lockstep-predict-mine", "lock"})
    fs::create_directories(out / name);
  const PredictionFolder folder(out);
  EXPECT_TRUE(fs::exists(out / ".unfinished-thesis"));
  EXPECT_TRUE(fs::exists(out / ".lockstep-predict-mine")) << "it has no lock";
  EXPECT_TRUE(fs::exists(out / "lock"));
}

TEST_F(Predictions, AreLeftAloneWhereItCannotBeToldWhetherTheirCommandLives) {
  // A link in its place stands for whatever makes open or flock fail.
  fs::create_directories(out / ".lockstep-predict-x");
  fs::create_symlink("/dev/null", out / ".lockstep-predict-x/lock");
  const PredictionFolder folder(out);
  EXPECT_TRUE(fs::exists(out / ".lockstep-predict-x"));
}

TEST_F(Predictions, OfAnEarlierPartStay) {
  fs::create_directories(out);
  write_output(out / "all.csv.partial", "first");
  const PredictionFolder folder(out);
  fs::create_directories(joint_folder(folder.scratch()));
  write_output(joint_folder(folder.scratch()) / "all.csv", "second");
  EXPECT_THAT(folder.keep_partial({"all.csv"}), ElementsAre("all.csv.partial.2"));
  EXPECT_EQ(read_file(out / "all.csv.partial"), "first");
  EXPECT_EQ(read_file(out / "all.csv.partial.2"), "second");
}

TEST_F(Predictions, AreToldFromInputsWhateverTheirNames) {
  fs::create_directories(out);
  write_output(out / "a", "");
  write_output(out / "b", "");
  fs::create_symlink(out / "a", out / "link-to-a");
  const std::vector<PredictItem> items{{.path = (out / "link-to-a").string()}};
  InputFiles inputs(items);
  EXPECT_TRUE(inputs.holds(out / "a"));
  EXPECT_TRUE(inputs.holds(out / "." / "link-to-a"));
  EXPECT_FALSE(inputs.holds(out / "b"));
  EXPECT_FALSE(inputs.holds(out / "none"));
}

TEST_F(Predictions, ThatAreThereAreNamedBeforeAnythingIsDone) {
  fs::create_directories(out);
  write_output(out / "a", "");
  write_output(out / "b", "");
  check_outputs_are_new(out, {"c"});
  EXPECT_THAT(error_of([&] {
                check_outputs_are_new(out, {"c", "a", "b"});
              }),
              HasSubstr("a is there already, and 1 more |"));
}

TEST_F(Predictions, MayHoldAnyBytesHoweverOften) {
  const PredictionFolder folder(out);
  const ItemResults results(folder.scratch());
  for (const char byte : {'_', '\x7f', '\x9f'}) {
    const std::string bytes(20'000, byte);
    results.write(0, {{.bytes = bytes}});
    EXPECT_EQ(results.take(0).at(0).bytes, bytes);
  }
}

TEST_F(Predictions, OfRanksAreTakenOnceAndWhole) {
  const PredictionFolder folder(out);
  const ItemResults results(folder.scratch());
  EXPECT_THAT(results.ready(), ElementsAre());
  results.write(
      3, {{.bytes = "a\xff"}, {.files = {{"/x", "y\xfe"}}, .in_file = true}, {.fault = "bad"}});
  results.write(1, {});
  EXPECT_THAT(results.ready(), ElementsAre(1, 3));
  const std::vector<ItemResult> taken = results.take(3);
  ASSERT_EQ(taken.size(), 3U);
  EXPECT_EQ(taken[0].bytes, "a\xff");
  EXPECT_EQ(taken[1].files[0].second, "y\xfe");
  EXPECT_TRUE(taken[1].in_file);
  EXPECT_EQ(taken[2].fault, "bad");
  EXPECT_THAT(results.ready(), ElementsAre(1));
  write_output(folder.scratch() / "part-4", "no");
  EXPECT_NE(error_of([&] { results.take(4); }), "");
}

}  // namespace
}  // namespace lockstep
