// lockstep predict with items: the same outputs on any number of devices, whatever goes wrong.
#include "predict_fixture.h"

#include "fakes/tenths.h"

#include <sys/wait.h>

#include <csignal>
#include <thread>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToolResult;

TEST_F(Predict, GivesTheSameBytesOnAnyNumberOfDevices) {
  std::map<std::string, std::string> first;
  for (const char* devices : {"cpu:1", "cpu:2", "cpu:3"}) {
    const std::string out = std::string("out-") + devices[4];
    const ToolResult result = tool({"predict", "a", "in", "out=" + out, "--devices", devices});
    ASSERT_EQ(result.code, 1) << result.err;
    EXPECT_THAT(result.err,
                HasSubstr("skipped in/bad.row: line 2 must hold 5 numbers, but holds 3"));
    EXPECT_THAT(result.err, HasSubstr("predicted 8 items into " + (folder->path() / out).string() +
                                      "; skipped 1 of 9"));
    const auto made = contents(folder->path() / out);
    if (first.empty()) first = made;
    EXPECT_EQ(made, first) << devices;
  }
  EXPECT_EQ(first.size(), 3 * 8U + 1);
  EXPECT_TRUE(first.contains("sub/deep.out"));
  EXPECT_TRUE(first.contains("beside/r3.row.txt"));
  EXPECT_EQ(first.at("moved/r3.row.txt"), "moved\n");
  EXPECT_EQ(first.at("all.csv"),
            "name,rows\nbad.row,none\nr0.row,1\nr1.row,2\nr2.row,3\nr3.row,4\nr4.row,5\nr5.row,6\n"
            "r6.row,7\nsub/deep.ROW,10\nend\n");
  EXPECT_THAT(first.at("r2.out"), HasSubstr("3 rows\n"));
}

TEST_F(Predict, SharesAnItemAmongDevicesAndGivesTheSameBytes) {
  ASSERT_EQ(tool({"train", "found", "--plugin", plugin(), "--devices", "cpu:1", "--name", "shared",
                  "stop.steps=2", "data.path=factor.txt"})
                .code,
            0);
  const auto predict = [&](const std::string& devices, const std::vector<std::string>& ids) {
    const fs::path trace = folder->path() / ("trace-" + devices);
    fs::create_directories(trace);
    std::vector<std::string> words{"predict",
                                   "shared",
                                   "pieces=4",
                                   "out=shared-" + devices,
                                   "--devices",
                                   devices,
                                   "trace=" + trace.string()};
    words.insert(words.begin() + 2, ids.begin(), ids.end());
    return tool(words);
  };
  const std::vector<std::string> ids{"r6", "r2", "r5", "r4", "r3"};
  for (const char* devices : {"cpu:1", "cpu:3", "cpu:4"}) {
    const ToolResult result = predict(devices, ids);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(contents(folder->path() / (std::string("shared-") + devices)),
              contents(folder->path() / "shared-cpu:1"));
    if (std::string(devices) == "cpu:4") {
      EXPECT_THAT(result.err, HasSubstr("r3: odd")) << "the warning of a piece";
    }
  }
  EXPECT_TRUE(fs::is_empty(folder->path() / "trace-cpu:1"));
  EXPECT_TRUE(fs::is_empty(folder->path() / "trace-cpu:3")) << "two are left for three devices";
  std::vector<std::string> names;
  for (const auto& [name, process] : contents(folder->path() / "trace-cpu:4"))
    names.push_back(name);
  EXPECT_THAT(names, ::testing::ElementsAre("r3-0-4", "r3-1-4", "r3-2-4", "r3-3-4"));

  const ToolResult bad = predict("cpu:2", {"bad"});
  EXPECT_EQ(bad.code, 1) << bad.err;
  EXPECT_THAT(bad.err, HasSubstr("skipped bad: line 2 must hold 5 numbers, but holds 3"));
  EXPECT_EQ(contents(folder->path() / "trace-cpu:2").size(), 2U);
}

TEST_F(Predict, NeedsNoTrainingDataAndWritesBelowTheRun) {
  fs::rename(folder->path() / "factor.txt", folder->path() / "gone.txt");
  const ToolResult result =
      tool({"predict", "a", "in/r1.row", "--devices", "cpu:1", "--json", "scale=3"});
  fs::rename(folder->path() / "gone.txt", folder->path() / "factor.txt");
  ASSERT_EQ(result.code, 0) << result.err;
  const auto said = nlohmann::json::parse(result.out);
  EXPECT_EQ(said.at("out"), (folder->path() / "runs/a/predictions").string());
  EXPECT_EQ(said.at("predicted"), 1);
  EXPECT_EQ(said.at("skipped").size(), 0U);
  EXPECT_TRUE(fs::exists(folder->path() / "runs/a/predictions/r1.out"));
  const ToolResult plain = tool({"predict", "a", "in/r1.row", "--devices", "cpu:1", "out=plain"});
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_NE(read_file(folder->path() / "plain/r1.out"),
            read_file(folder->path() / "runs/a/predictions/r1.out"))
      << "predict.scale must count";
}

TEST_F(Predict, OverwritesNothingUnasked) {
  const std::vector<std::string> words{"predict",  "a",         "in/r1.row",
                                       "out=once", "--devices", "cpu:1"};
  ASSERT_EQ(tool(words).code, 0);
  write_file_atomic(folder->path() / "once/r1.out", "mine");
  const ToolResult again = tool(words);
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("once/r1.out is there already: it or its input has changed "
                                   "since it was made\n\nhint: remove what is to be"));
  EXPECT_EQ(read_file(folder->path() / "once/r1.out"), "mine");
  std::vector<std::string> forced = words;
  forced.emplace_back("--force");
  EXPECT_EQ(tool(forced).code, 0);
  EXPECT_NE(read_file(folder->path() / "once/r1.out"), "mine");
}

TEST_F(Predict, NeverReplacesItsInputs) {
  const fs::path in = folder->path() / "own";
  fs::create_directories(in);
  write_rows(in / "r1.out", 1);
  fs::create_symlink(in / "r1.out", folder->path() / "r1.row");
  const std::string before = read_file(in / "r1.out");
  for (const char* input : {"own/r1.out", "r1.row"}) {
    const ToolResult result =
        tool({"predict", "a", input, "out=own", "--force", "--devices", "cpu:1"});
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("own/r1.out would replace an input"));
  }
  const ToolResult beside = tool({"predict", "a", "own/r1.out", "in/r2.row", "out=own", "--force",
                                  "beside=r1.out", "--devices", "cpu:1"});
  EXPECT_EQ(beside.code, 2) << beside.err;
  write_rows(in / "r3.txt", 1);
  const ToolResult late = tool(
      {"predict", "a", "own/r3.txt", "out=own", "--force", "beside=r3.txt", "--devices", "cpu:1"});
  EXPECT_EQ(late.code, 1) << late.err;
  EXPECT_THAT(late.err, HasSubstr("its output r3.txt would replace an input"));
  EXPECT_EQ(read_file(in / "r1.out"), before);
  EXPECT_EQ(read_file(in / "r3.txt"), before);
}

TEST_F(Predict, PlacesAllFilesOfAnItemOrNone) {
  fs::create_directories(folder->path() / "sides/beside");
  write_file_atomic(folder->path() / "sides/beside/r1.row.txt", "mine");
  const ToolResult result = tool({"predict", "a", "in/r1.row", "out=sides", "--devices", "cpu:1"});
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("sides/beside/r1.row.txt is there already"));
  EXPECT_FALSE(fs::exists(folder->path() / "sides/r1.out"));
  EXPECT_EQ(read_file(folder->path() / "sides/beside/r1.row.txt"), "mine");
  const ToolResult twice = tool({"predict", "a", "in/r1.row", "in/r2.row", "out=twice", "--force",
                                 "beside=same.txt", "--devices", "cpu:1"});
  EXPECT_EQ(twice.code, 1) << twice.err;
  EXPECT_THAT(twice.err, HasSubstr("skipped in/r2.row: a second output would be called same.txt"));
  EXPECT_FALSE(fs::exists(folder->path() / "twice/r2.out"));
  const ToolResult long_name = tool({"predict", "a", "in/r1.row", "out=long",
                                     "beside=" + std::string(256, 'a'), "--devices", "cpu:1"});
  EXPECT_EQ(long_name.code, 1) << long_name.err;
  EXPECT_THAT(long_name.err, HasSubstr("255 bytes"));
}

TEST_F(Predict, GoesByWhereTheRecordSaysToWriteOnlyWhereItIsAsked) {
  const ToolResult trained = tool({"train", "items", "--plugin", plugin(), "--devices", "cpu:1",
                                   "--name", "told", "stop.steps=2", "data.path=factor.txt",
                                   "predict.out=elsewhere", "predict.input=in/r3.row"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const ToolResult result = shell("echo in/r1.row | " + testing::program_in_shell("lockstep") +
                                  " predict told --devices cpu:1");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(fs::exists(folder->path() / "runs/told/predictions/r1.out"));
  EXPECT_FALSE(fs::exists(folder->path() / "elsewhere"));
}

TEST_F(Predict, WritesIntoAFolderWhoseNameIsNoText) {
  const ToolResult result = tool({"predict", "a", "in/r1.row", "out=o\xff", "--devices", "cpu:1"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(fs::exists(folder->path() / "o\xff/r1.out"));
}

TEST_F(Predict, LeavesNothingOfAnInterruptedPipe) {
  fs::create_directories(folder->path() / "tmp");
  const ToolResult result =
      shell("export TMPDIR=$PWD/tmp; (echo in/r1.row; sleep 6) | timeout -s TERM 4 " +
            testing::program_in_shell("lockstep") + " predict a - out=cut-off");
  EXPECT_THAT(result.err, HasSubstr("interrupted"));
  EXPECT_TRUE(fs::is_empty(folder->path() / "tmp"));
}

TEST_F(Predict, TakesGlobsAndStandardInput) {
  const std::string predict = testing::program_in_shell("lockstep") + " predict a --devices cpu:2 ";
  const ToolResult glob = shell(predict + "'in/r[01].row' out=globbed");
  ASSERT_EQ(glob.code, 0) << glob.err;
  const auto globbed = contents(folder->path() / "globbed");
  EXPECT_EQ(globbed.size(), 7U);
  const ToolResult listed = shell("ls in/r[01].row | " + predict + "- out=listed");
  ASSERT_EQ(listed.code, 0) << listed.err;
  EXPECT_EQ(contents(folder->path() / "listed"), globbed);
  const ToolResult piped = shell("ls in/r[01].row | " + predict + "out=piped");
  ASSERT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(contents(folder->path() / "piped"), globbed);
}

TEST_F(Predict, NamesWhatIsNotThere) {
  const auto refuses = [&](const std::vector<std::string>& more, const std::string& what) {
    std::vector<std::string> words{"predict", "a", "--devices", "cpu:1", "out=never"};
    words.insert(words.end(), more.begin(), more.end());
    const ToolResult result = tool(words);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(what));
    EXPECT_FALSE(fs::exists(folder->path() / "never"));
  };
  refuses({"in/r1.rw"}, "there is no file in/r1.rw\n\nhint: did you mean in/r1.row?");
  refuses({"in/*.png"}, "no file matches in/*.png");
  refuses({}, "there is nothing to predict\n\nhint: name files, folders or globs");
  refuses({"in", "scal=2"}, "did you mean scale?");
  refuses({"in", "predict.input=in"}, "inputs are given twice");
}

TEST_F(Predict, SkipsAFileThatIsMissingAmongOthersAndOneThatMemoryIsTooSmallFor) {
  write_file_atomic(folder->path() / "big.row", "memory\n");
  const ToolResult result = tool({"predict", "a", "in/r1.row", "in/none.row", "big.row", "out=some",
                                  "--devices", "cpu:2", "--json"});
  EXPECT_EQ(result.code, 1) << result.err;
  const auto said = nlohmann::json::parse(result.out);
  ASSERT_EQ(said.at("skipped").size(), 2U);
  EXPECT_EQ(said["skipped"][0]["name"], "in/none.row");
  EXPECT_EQ(said["skipped"][0]["reason"], "there is no file in/none.row");
  EXPECT_THAT(said["skipped"][1]["reason"].get<std::string>(), HasSubstr("no memory, by request"));
  EXPECT_TRUE(fs::exists(folder->path() / "some/r1.out"));
}

TEST_F(Predict, SkipsGlobsAndFoldersWithoutInputsAmongOthers) {
  fs::create_directories(folder->path() / "hollow/sub");
  write_rows(folder->path() / "hollow/r1.row", 1);
  const ToolResult result = shell("find hollow | sort | " + testing::program_in_shell("lockstep") +
                                  " predict a - 'zz/*.row' " + "out=hollowed --devices cpu:1");
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("skipped hollow/sub: the folder hollow/sub holds no .row file"));
  EXPECT_THAT(result.err, HasSubstr("no file matches zz/*.row"));
  EXPECT_TRUE(fs::exists(folder->path() / "hollowed/r1.out"));
}

TEST_F(Predict, ARecipeThatCallsExitHasFailed) {
  if (!testing::has_turn_twice(2)) GTEST_SKIP() << testing::in_another_tenth;
  const fs::path in = folder->path() / "leaving";
  for (const char* word : {"exit", "quick exit"})
    for (const char* devices : {"cpu:1", "cpu:2"}) {
      fs::remove_all(in);
      fs::create_directories(in);
      for (int i = 0; i < 6; ++i) write_rows(in / ("r" + std::to_string(i) + ".row"), i);
      write_file_atomic(in / "r2.row", std::string(word) + "\n");
      const ToolResult result =
          tool({"predict", "a", "leaving", "out=left", "--force", "--devices", devices});
      EXPECT_EQ(result.code, 1) << word << " " << devices << result.err;
      EXPECT_THAT(result.err,
                  HasSubstr("something called exit() before it was done in prediction"));
      EXPECT_THAT(result.err, HasSubstr("was at leaving/r2.row"));
      EXPECT_THAT(result.err, HasSubstr("not finished: "));
    }
}

TEST_F(Predict, ARankThatDiesIsNamedWithItsItemAndLosesNothingSilently) {
  const fs::path in = folder->path() / "deadly";
  fs::create_directories(in);
  for (int i = 0; i < 6; ++i) write_rows(in / ("r" + std::to_string(i) + ".row"), i);
  write_file_atomic(in / "r5x.row", "slow\nslow\nslow\ncrash\n");
  const ToolResult result = tool({"predict", "a", "deadly", "out=cut", "--devices", "cpu:2"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("killed by signal 9"));
  EXPECT_THAT(result.err, HasSubstr("was at deadly/r5x.row"));
  EXPECT_THAT(result.err,
              HasSubstr("not finished: 6 of 7 items are done, in " +
                        (folder->path() / "cut").string() + "; all.csv.partial holds their part"));
  const auto made = contents(folder->path() / "cut");
  EXPECT_TRUE(made.contains("r5.out"));
  EXPECT_FALSE(made.contains("all.csv"));
  EXPECT_THAT(made.at("all.csv.partial"), Not(HasSubstr("end")));
  for (const auto& [name, content] : made) EXPECT_FALSE(name.starts_with(".")) << name;
  EXPECT_THAT(result.err, HasSubstr(" in prediction"));
}

TEST_F(Predict, AFullDiskIsSaid) {
  // A limit on the size of files stands for it: both make `write` fail.
  const ToolResult result =
      shell("trap '' XFSZ; ulimit -f 20000; exec " + testing::program_in_shell("lockstep") +
            " predict a in/r1.row in/r2.row out=full fill_mb=40 --devices cpu:2");
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("cannot write "));
  EXPECT_THAT(result.err, HasSubstr("not finished: 0 of 2 items are done"));
  EXPECT_FALSE(fs::exists(folder->path() / "full/r1.out"));
}

TEST_F(Predict, OffersShortKeysAndFiles) {
  EXPECT_THAT(tool({"complete", "fish", "--", "predict", "a", ""}).out,
              HasSubstr("\nscale=\tmultiplies what is predicted\n"));
  EXPECT_THAT(tool({"complete", "fish", "--", "evaluate", "a", "sh"}).out, HasSubstr("\nshift="));
  EXPECT_THAT(tool({"complete", "fish", "--", "predict", "a", "also=b,"}).out,
              ::testing::StartsWith("words\nalso=b,\na\n"));
  const std::vector<std::string> train{"complete", "fish",     "--",    "train",
                                       "items",    "--plugin", plugin()};
  const auto after = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = train;
    words.insert(words.end(), more.begin(), more.end());
    return tool(words).out;
  };
  EXPECT_THAT(after({""}), Not(HasSubstr("\nscale=")));
  EXPECT_THAT(after({"--then", "predict", ""}), HasSubstr("\nscale="));
  EXPECT_THAT(after({"--then", "predict", "out="}), ::testing::StartsWith("files\n"));
  EXPECT_THAT(tool({"complete", "fish", "--", "predict", "a", "in/r"}).out,
              ::testing::StartsWith("files\n"));
  EXPECT_THAT(tool({"complete", "fish", "--", "predict", "a", "out="}).out,
              ::testing::StartsWith("files\n"));
}

TEST_F(Predict, AfterTrainingWithTheLongForm) {
  const ToolResult result = tool({"train", "items", "--plugin", plugin(), "--devices", "cpu:2",
                                  "--name", "then", "stop.steps=2", "data.path=factor.txt",
                                  "predict.input=in/r1.row,in/r2.row", "--then", "predict"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(fs::exists(folder->path() / "runs/then/predictions/r2.out"));
  const ToolResult none =
      tool({"train", "items", "--plugin", plugin(), "--devices", "cpu:2", "--name", "then2",
            "stop.steps=2", "data.path=factor.txt", "--then", "predict"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("nothing that --then predict could predict"));
}

}  // namespace
}  // namespace lockstep
