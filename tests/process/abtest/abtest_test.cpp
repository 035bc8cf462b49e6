// lockstep abtest with small real commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/text/text.h"
#include "fakes/tool.h"

namespace lockstep {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::ToolResult;

class Abtest : public ::testing::Test {
 protected:
  std::vector<std::string> words_for(std::vector<std::string> words) {
    words.insert(words.begin(), {"abtest", "--out", "kept"});
    return words;
  }
  ToolResult abtest(std::vector<std::string> words) {
    std::filesystem::remove_all(folder.path() / "kept");
    return testing::run_tool(words_for(std::move(words)), folder.path());
  }
  json record() { return json::parse(read_file(folder.path() / "kept/abtest.json")); }
  std::string path(const std::string& name) { return (folder.path() / name).string(); }
  // Each time the next of the lines of a file.
  std::string next_line_of(const std::string& name) {
    return cat("sh -c 'head -1 ", name, "; sed -i 1d ", name, "'");
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder.path() / name) << text;
  }
  TemporaryDirectory folder;
};

TEST_F(Abtest, SaysThatACommandIsOneWordInQuotes) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"python3", "-c", "pass"},
                                                {"python3", "a.py", "python3", "b.py"}}) {
    const ToolResult result = abtest(words);
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, HasSubstr("each command is one word, in quotes: lockstep abtest '"));
  }
}

TEST_F(Abtest, CallsTheLongerSleepSlower) {
  const ToolResult result = abtest({"sleep 0.02", "sleep 0.3", "--repeats", "6"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("B is slower: "));
  EXPECT_THAT(result.out, HasSubstr("paired t on logarithms"));
  const json kept = record();
  EXPECT_EQ(kept["state"], "finished");
  EXPECT_EQ(kept["result"]["finding"], "more");
  const double ratio = kept["result"]["quantities"]["wall_s"]["ratio"];
  EXPECT_GT(ratio, 1.3) << "however busy the machine is";
  EXPECT_LT(ratio, 16);
}

TEST_F(Abtest, DoesNotCallEqualCommandsDifferent) {
  const ToolResult result =
      abtest({"sleep 0.02", "sleep 0.02", "--repeats", "12", "--margin", "300%"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("flag: both commands are the same"));
  EXPECT_THAT(
      record()["result"]["verdict"].get<std::string>(),
      AnyOf(StartsWith("no difference at the margin of 300 %"), StartsWith("inconclusive")));
}

TEST_F(Abtest, KeepsEveryMeasurementAndTheMachine) {
  const ToolResult result = abtest(
      {"sleep 0.01", "sh -c 'printf %s%s hel lo; sleep 0.01'", "--repeats", "4", "--warmup", "2"});
  ASSERT_EQ(result.code, 0) << result.err;
  const json kept = record();
  ASSERT_EQ(kept["pairs"].size(), 4u);
  int b_first = 0;
  for (const json& pair : kept["pairs"]) {
    b_first += pair["first"] == "b" ? 1 : 0;
    for (const char* side : {"a", "b"}) {
      EXPECT_GE(pair[side]["wall_s"], 0.01);
      EXPECT_GT(pair[side]["started"], 1.7e9);
      EXPECT_TRUE(pair[side].contains("user_s") && pair[side].contains("peak_bytes"));
    }
  }
  EXPECT_EQ(b_first, 2) << "balanced";
  EXPECT_EQ(kept["commands"]["b"]["words"], (json{"sh", "-c", "printf %s%s hel lo; sleep 0.01"}));
  EXPECT_GT(kept["machine"]["cores"], 0);
  EXPECT_EQ(kept["rule"]["seed"], 0);
  EXPECT_EQ(read_file(folder.path() / "kept/output/1b.log"), "hello");
  EXPECT_EQ(read_file(folder.path() / "kept/output/warmup2-0b.log"), "hello");
  EXPECT_EQ(read_file(folder.path() / "kept/output/4a.log"), "");
  EXPECT_THAT(result.out, Not(HasSubstr("hello")));
  EXPECT_THAT(result.err, Not(HasSubstr("hello")));
}

TEST_F(Abtest, PrintsTheRecordAsJson) {
  const ToolResult result = abtest({"true", "true", "--repeats", "2", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out), record());
}

TEST_F(Abtest, RunsWithoutAShellAndKeepsQuotedWordsWhole) {
  write("show.py", "import sys; print(sys.argv[1:])\n");
  ASSERT_EQ(abtest({"python3 show.py 'a  b' \"c\" d\\ e '$HOME'", "true", "--repeats", "1"}).code,
            0);
  EXPECT_EQ(read_file(folder.path() / "kept/output/1a.log"), "['a  b', 'c', 'd e', '$HOME']\n");
  const ToolResult piped = abtest({"true | cat", "true"});
  EXPECT_EQ(piped.code, 2);
  EXPECT_THAT(piped.err, HasSubstr("the command of A runs without a shell, but has a pipe"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "kept"));
}

TEST_F(Abtest, ComparesANumberThatTheCommandsPrint) {
  std::string a, b;
  for (int i = 0; i < 7; ++i) {
    a += cat("acc 0.", 70 + i, "\n");
    b += cat("acc 0.", 80 + i, "\n");
  }
  write("a", a);
  write("b", b);
  const ToolResult result = abtest({next_line_of("a"), next_line_of("b"), "--metric",
                                    "acc ([0-9.]+)", "--higher-is-better", "--repeats", "6"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("B is higher (better)"));
  const json kept = record();
  EXPECT_EQ(kept["pairs"][0]["a"]["metric"], 0.71) << "the first was a warm-up";
  EXPECT_EQ(kept["quantity"]["pattern"], "acc ([0-9.]+)");
  EXPECT_EQ(kept["quantity"]["higher_is_better"], true);
}

TEST_F(Abtest, ComparesDifferencesOfAMetricOfAnySign) {
  const std::vector<std::string> words{"echo -1", "echo 0.5", "--metric", ".+", "--repeats", "4"};
  const ToolResult refused = abtest(words);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("the metric is -1, of which there is no ratio"));
  std::vector<std::string> more = words;
  more.insert(more.end(), {"--difference", "--margin", "0.01"});
  const ToolResult result = abtest(more);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(record()["result"]["quantities"]["metric"]["difference"], 1.5);
}

TEST_F(Abtest, SaysWhatAMetricLacks) {
  const ToolResult result = abtest({"echo none", "echo none", "--metric", "loss (.*)"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("A in warm-up 1 (echo none): nothing in its output matches"),
                    HasSubstr("its output ended with:\nnone\n")));
  EXPECT_EQ(record()["state"], "failed");
}

TEST_F(Abtest, EndsWhereACommandFailsAndShowsTheEndOfItsOutput) {
  const ToolResult failed = abtest({"true", "sh -c 'echo one; echo two >&2; exit 7'"});
  EXPECT_EQ(failed.code, 2);
  EXPECT_THAT(failed.err, AllOf(HasSubstr("failed: exit code 7"), HasSubstr("one\ntwo"),
                                HasSubstr("kept/output/warmup1-0b.log")));
  const ToolResult killed = abtest({"sh -c 'kill -SEGV $$'", "true"});
  EXPECT_EQ(killed.code, 2);
  EXPECT_THAT(killed.err, HasSubstr("was killed by signal 11 (Segmentation fault)"));
  const ToolResult late = abtest({"true", "sleep 100", "--timeout", "0.2s"});
  EXPECT_EQ(late.code, 2);
  EXPECT_THAT(late.err, HasSubstr("took longer than 0.2 s"));
  const ToolResult absent = abtest({"true", "no-such-program-here"});
  EXPECT_EQ(absent.code, 2);
  EXPECT_THAT(absent.err, HasSubstr("cannot start \"no-such-program-here\""));
}

bool is_alive(pid_t process) {
  std::ifstream status(cat("/proc/", process, "/stat"));
  std::string pid, name, state;
  return (status >> pid >> name >> state) && state != "Z";
}

pid_t pid_in(const std::filesystem::path& file) {
  pid_t process = 0;
  for (int i = 0; i < 500 && process == 0; ++i) {
    std::ifstream(file) >> process;
    if (process == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return process;
}

TEST_F(Abtest, LeavesNothingRunning) {
  const ToolResult result =
      abtest({"sh -c 'setsid sleep 100 & echo $! >left; sleep 0.05'", "true", "--repeats", "1"});
  ASSERT_EQ(result.code, 0) << result.err;
  const pid_t left = pid_in(folder.path() / "left");
  ASSERT_GT(left, 0);
  EXPECT_FALSE(is_alive(left));
}

TEST_F(Abtest, EndsBothAndReportsWhatThereIsAfterAnInterrupt) {
  for (const int number : {SIGINT, SIGTERM}) {
    std::filesystem::remove_all(folder.path() / "kept");
    std::filesystem::remove(folder.path() / "third");
    // The third run of B stays until it is told to go.
    write("b.sh",
          "echo x >>count\n"
          "if [ $(wc -l <count) -lt 4 ]; then exit 0; fi\n"
          "sleep 100 & echo $! >third; wait\n");
    std::filesystem::remove(folder.path() / "count");
    std::vector<std::string> words = words_for({"sleep 0.01", "sh b.sh"});
    words.insert(words.begin(), testing::program("lockstep"));
    testing::ToolProcess tool(words, folder.path());
    const pid_t child = pid_in(folder.path() / "third");
    ASSERT_GT(child, 0) << tool.err();
    kill(tool.pid(), number);
    const ToolResult result = tool.wait();
    EXPECT_EQ(result.code, 130);
    EXPECT_THAT(result.out, AllOf(HasSubstr("2 pairs"), HasSubstr("it was interrupted")));
    EXPECT_FALSE(is_alive(child));
    EXPECT_EQ(record()["state"], "interrupted");
    EXPECT_EQ(record()["pairs"].size(), 2u);
  }
}

TEST_F(Abtest, EndsWithItsBudget) {
  const auto begin = std::chrono::steady_clock::now();
  const ToolResult result =
      abtest({"sleep 0.05", "sleep 0.05", "--budget", "0.7s", "--margin", "0.02%"});
  const double took_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(record()["result"]["ended_by"], "budget");
  EXPECT_THAT(result.out, HasSubstr("its budget of time is used up"));
  EXPECT_LT(took_s, 3);
}

TEST_F(Abtest, HasExitCodesForCi) {
  const auto code = [&](const std::string& a, const std::string& b, const std::string& limit,
                        const std::string& repeats = "6") {
    return abtest({a, b, "--fail-if-slower", limit, "--repeats", repeats}).code;
  };
  EXPECT_EQ(code("sleep 0.02", "sleep 0.3", "3%"), 1);
  EXPECT_EQ(code("sleep 0.3", "sleep 0.02", "3%"), 0);
  EXPECT_EQ(code("sleep 0.02", "sleep 0.02", "3%", "1"), 2) << "one pair tells nothing";
  // Of a metric that should be high, the lower one is worse.
  const auto metric = [&](const std::string& a, const std::string& b) {
    return abtest({a, b, "--fail-if-slower", "3%", "--repeats", "4", "--metric", ".+",
                   "--higher-is-better"})
        .code;
  };
  EXPECT_EQ(metric("echo 10", "echo 5"), 1);
  EXPECT_EQ(metric("echo 10", "echo 20"), 0);
}

TEST_F(Abtest, RefusesWhatCannotBe) {
  const auto refused = [&](std::vector<std::string> flags, const std::string& why) {
    flags.insert(flags.begin(), {"true", "true"});
    const ToolResult result = abtest(flags);
    EXPECT_EQ(result.code, 2) << why;
    EXPECT_THAT(result.err, HasSubstr(why));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "kept")) << why;
  };
  refused({"--margin", "3"}, "write --margin 3%");
  refused({"--margin", "0%"}, "--margin must be at least 0.01%");
  refused({"--repeats", "0"}, "--repeats must be a number from 1");
  refused({"--order", "ba"}, "--order must be balanced or ab");
  refused({"--order", "ab", "--seed", "1"}, "--seed draws which order comes first");
  refused({"--metric", "("}, "missing closing parenthesis");
  refused({"--higher-is-better"}, "there is none: time is better where it is less");
  refused({"--metric", "x", "--difference"}, "--difference needs --margin");
  refused({"--metric", "x", "--difference", "--margin", "2%"}, "in the metric's own unit");
  refused({"--budget", "soon"}, "--budget");
  refused({"--name", "x"}, "--out and --name both say");
  refused({"--parallel", "--devices", "cpu"}, "--parallel runs a pair on each of several GPUs");
  EXPECT_EQ(testing::run_tool({"abtest", "true"}, folder.path()).code, 2);
}

TEST_F(Abtest, NeverWritesIntoAFolderThatHoldsSomething) {
  std::filesystem::create_directory(folder.path() / "full");
  write("full/x", "");
  const ToolResult result =
      testing::run_tool({"abtest", "true", "true", "--out", "full"}, folder.path());
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("full is there already"));
}

TEST_F(Abtest, IsKeptAmongTheRunsByItsName) {
  const ToolResult result = testing::run_tool(
      {"abtest", "true", "true", "--repeats", "1", "--name", "mine"}, folder.path());
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "runs/mine/abtest.json"));
  EXPECT_THAT(result.err, HasSubstr("kept in runs/mine"));
  EXPECT_EQ(testing::run_tool({"abtest", "true", "true", "--name", "mine"}, folder.path()).code, 2);
  EXPECT_EQ(testing::run_tool({"runs"}, folder.path()).code, 0);
}

}  // namespace
}  // namespace lockstep
