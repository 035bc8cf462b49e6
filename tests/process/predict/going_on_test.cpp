// lockstep predict after it was interrupted: what is whole is kept, and nothing else.
#include "fakes/tenths.h"
#include "predict_fixture.h"

#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <thread>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToolProcess;
using testing::ToolResult;

ino_t inode_of(const fs::path& file) {
  struct stat info {};
  return stat(file.c_str(), &info) == 0 ? info.st_ino : 0;
}

// Six items, the fourth of which takes long, three times as `slow` is written in it.
class GoingOn : public Predict {
 protected:
  static fs::path write_items(const std::string& name, int slow) {
    const fs::path in = folder->path() / name;
    fs::create_directories(in);
    for (int i = 0; i < 6; ++i) write_rows(in / ("r" + std::to_string(i) + ".row"), i);
    std::string text = read_file(in / "r3.row");
    for (int i = 0; i < slow; ++i) text = "slow\n" + text;
    write_file_atomic(in / "r3.row", text);
    return in;
  }
  static std::vector<std::string> words(const std::string& in, const std::string& out,
                                        const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{"predict", "a", in, "out=" + out, "--devices", "cpu:1"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // Ended by a signal when the file is there.
  static ToolResult interrupt(std::vector<std::string> all, const fs::path& file, int signal) {
    all.insert(all.begin(), testing::program("lockstep"));
    ToolProcess process(all, folder->path());
    while (!fs::exists(folder->path() / file))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(process.pid(), signal);
    return process.wait();
  }
  static std::map<std::string, std::string> made(const std::string& out) {
    return contents(folder->path() / out);
  }
};

TEST_F(GoingOn, KeepsWhatIsWholeAndSaysSo) {
  write_items("six", 10);
  const ToolResult stopped = interrupt(words("six", "part"), "part/r1.out", SIGINT);
  EXPECT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("not finished: 2 of 6 items are done"));
  EXPECT_THAT(stopped.err, HasSubstr("all.csv.partial holds their part"));
  EXPECT_THAT(stopped.err,
              HasSubstr("to go on with the rest: lockstep predict --devices cpu:1 out=part a six"));
  const ino_t first = inode_of(folder->path() / "part/r1.out");

  // On other devices, with the same bytes.
  std::vector<std::string> on_two = words("six", "part", {"--json"});
  std::replace(on_two.begin(), on_two.end(), std::string("cpu:1"), std::string("cpu:2"));
  const ToolResult rest = tool(on_two);
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("6 items: 2 are done already, 4 to do"));
  EXPECT_THAT(rest.err, HasSubstr("predicted 4 items into "));
  EXPECT_THAT(rest.err, HasSubstr("; 2 were done already"));
  EXPECT_EQ(nlohmann::json::parse(rest.out).at("already"), 2);
  EXPECT_EQ(inode_of(folder->path() / "part/r1.out"), first) << "it was made twice";

  ASSERT_EQ(tool(words("six", "whole")).code, 0);
  EXPECT_EQ(made("part"), made("whole"));

  const ToolResult nothing = tool(words("six", "part", {"--json"}));
  EXPECT_EQ(nothing.code, 0) << nothing.err;
  EXPECT_THAT(nothing.err, HasSubstr("all 6 items are predicted already, in "));
  EXPECT_EQ(nlohmann::json::parse(nothing.out).at("predicted"), 0);
}

TEST_F(GoingOn, RefusesWhatIsMadeOfOthersAndSaysWhatDiffers) {
  if (!testing::has_turn(0)) GTEST_SKIP() << testing::in_another_tenth;
  write_items("six", 0);
  ASSERT_EQ(tool(words("six", "full")).code, 0);
  const auto before = made("full");
  const auto refuses = [&](const std::vector<std::string>& more, const std::string& what) {
    const ToolResult result = tool(words("six", "full", more));
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(what));
    EXPECT_EQ(made("full"), before);
  };
  refuses({"scale=3"}, "is there already, and 6 more: made with predict.scale = 1.0, not 3.0");
  write_rows(folder->path() / "six/r4.row", 5);
  refuses({}, "is there already, and 3 more: it or its input has changed since it was made");

  // What it names is enough: the rest is not made again.
  const ino_t first = inode_of(folder->path() / "full/r1.out");
  fs::remove(folder->path() / "full/r4.out");
  fs::remove(folder->path() / "full/r5.out");
  for (const char* name : {"beside/r4.row.txt", "moved/r4.row.txt", "all.csv"})
    fs::remove(folder->path() / "full" / name);
  const ToolResult again = tool(words("six", "full"));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("6 items: 4 are done already, 2 to do"));
  EXPECT_EQ(inode_of(folder->path() / "full/r1.out"), first);
}

TEST_F(GoingOn, LeavesAFileOfTheUsersAlone) {
  if (!testing::has_turn(1)) GTEST_SKIP() << testing::in_another_tenth;
  write_items("six", 10);
  interrupt(words("six", "mine"), "mine/r1.out", SIGKILL);
  write_file_atomic(folder->path() / "mine/r5.out", "mine");
  const ToolResult result = tool(words("six", "mine"));
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("mine/r5.out is there already\n"));
  EXPECT_EQ(made("mine").at("r5.out"), "mine");
}

TEST_F(GoingOn, PredictsSkippedItemsAgainAndTheTableAnew) {
  if (!testing::has_turn(2)) GTEST_SKIP() << testing::in_another_tenth;
  const fs::path in = write_items("six", 0);
  write_file_atomic(in / "r2.row", "1 2 3\n");
  EXPECT_EQ(tool(words("six", "some")).code, 1);
  EXPECT_THAT(made("some").at("all.csv"), HasSubstr("r2.row,none\n"));
  write_rows(in / "r2.row", 2);
  const ToolResult rest = tool(words("six", "some"));
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("6 items: 4 are done already, 2 to do"));
  ASSERT_EQ(tool(words("six", "all")).code, 0);
  EXPECT_EQ(made("some"), made("all"));
}

TEST_F(GoingOn, TakesItemsThatCameSince) {
  if (!testing::has_turn(3)) GTEST_SKIP() << testing::in_another_tenth;
  const fs::path in = write_items("six", 0);
  ASSERT_EQ(tool(words("six", "more")).code, 0);
  write_rows(in / "r7.row", 7);
  const ToolResult rest = tool(words("six", "more"));
  fs::remove(in / "r7.row");
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("7 items: 6 are done already, 1 to do"));
  EXPECT_THAT(made("more").at("all.csv"), HasSubstr("r7.row,8\n"));
  // Of fewer the table would lack what is there.
  const ToolResult fewer = tool(words("six/r1.row", "more"));
  EXPECT_EQ(fewer.code, 2) << fewer.err;
  EXPECT_THAT(fewer.err, HasSubstr("all.csv is there already: made of other items"));
}

TEST_F(GoingOn, AForcedCommandThatWasKilledMayReplaceTheRest) {
  if (!testing::has_turn(4)) GTEST_SKIP() << testing::in_another_tenth;
  write_items("six", 10);
  ASSERT_EQ(tool(words("six", "forced", {"scale=2"})).code, 0);
  const ino_t before = inode_of(folder->path() / "forced/r1.out");
  std::vector<std::string> all = words("six", "forced", {"--force"});
  all.insert(all.begin(), testing::program("lockstep"));
  ToolProcess process(all, folder->path());
  while (inode_of(folder->path() / "forced/r1.out") == before)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(process.pid(), SIGKILL);
  process.wait();
  const ToolResult rest = tool(words("six", "forced"));
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("6 items: 2 are done already, 4 to do"));
  ASSERT_EQ(tool(words("six", "unforced")).code, 0);
  EXPECT_EQ(made("forced"), made("unforced"));
}

TEST_F(GoingOn, TwoCommandsDoNotMakeTheSame) {
  if (!testing::has_turn(5)) GTEST_SKIP() << testing::in_another_tenth;
  write_items("six", 40);
  std::vector<std::string> all = words("six", "two");
  all.insert(all.begin(), testing::program("lockstep"));
  fs::create_directories(folder->path() / "first");
  ToolProcess process({"bash", "-c", "cd .. && exec " + testing::shell_line(all)},
                      folder->path() / "first",
                      {{"XDG_STATE_HOME", (folder->path() / ".state").string()}});
  while (!fs::exists(folder->path() / "two/r1.out"))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const ToolResult second = tool(words("six", "two"));
  kill(process.pid(), SIGKILL);
  process.wait();
  EXPECT_EQ(second.code, 2) << second.err;
  EXPECT_THAT(second.err, HasSubstr("another command is predicting these items into"));
  EXPECT_THAT(second.err, Not(HasSubstr("is there already")));
}

TEST_F(GoingOn, AfterTrainingOnlyWhatIsMissingIsPredicted) {
  write_items("six", 10);
  const std::vector<std::string> all{
      "train",     "items",  "--plugin", plugin(),       "--devices",
      "cpu:1",     "--name", "then",     "stop.steps=2", "data.path=factor.txt",
      "input=six", "--then", "predict",  "--resume",     "auto",
      "out=after"};
  EXPECT_EQ(interrupt(all, "after/r1.out", SIGKILL).code, 128 + SIGKILL);
  const ToolResult rest = tool(all);
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("6 items: 2 are done already, 4 to do"));
}

}  // namespace
}  // namespace lockstep
