// lockstep bench with real ranks: what it prints, what it refuses, and that it leaves nothing.
#include "fakes/tool.h"
#include "runtime/run/folder/run_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <thread>

namespace lockstep {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::run_tool;
using testing::ToolResult;

class BenchCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::write_corpus(folder.path() / "corpus.txt", 9000);
    std::filesystem::create_directories(scratch());
  }
  std::filesystem::path scratch() const { return folder.path() / "scratch"; }
  std::map<std::string, std::string> environment() const {
    return {{"TMPDIR", scratch().string()}, {"CUDA_VISIBLE_DEVICES", ""}};
  }
  std::vector<std::string> words(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"bench", "textgen"};
    for (const std::string& option : testing::tiny(folder.path() / "corpus.txt"))
      all.push_back(option);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  ToolResult bench(const std::vector<std::string>& more) const {
    return run_tool(words(more), folder.path(), environment());
  }
  // Neither a run nor anything in the temporary folder.
  void expect_nothing_left() const {
    EXPECT_TRUE(list_runs(folder.path() / "runs").empty());
    EXPECT_TRUE(std::filesystem::is_empty(scratch()));
  }
  void refuses(const std::vector<std::string>& more, const std::string& what) const {
    const ToolResult result = bench(more);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(what));
    EXPECT_THAT(result.err, HasSubstr("\n\nhint: "));
    expect_nothing_left();
  }

  TemporaryDirectory folder;
};

TEST_F(BenchCommand, ComparesNumbersOfRanksAndLeavesNothing) {
  const ToolResult result = bench({"--devices", "cpu:2,1", "--steps", "4", "--warm-up", "2",
                                   "--repeats", "2", "--json", "--out", "b.json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const json report = json::parse(result.out);
  EXPECT_EQ(report, json::parse(read_file(folder.path() / "b.json")));
  EXPECT_EQ(report.at("scaling"), "strong");
  ASSERT_EQ(report.at("rows").size(), 2U);
  const json &one = report["rows"][0], &two = report["rows"][1];
  EXPECT_EQ(one.at("devices"), 1);
  EXPECT_EQ(two.at("devices"), 2);
  EXPECT_EQ(one.at("global_batch"), 12);
  EXPECT_EQ(two.at("global_batch"), 12);
  EXPECT_EQ(one.at("steps"), 8);
  EXPECT_EQ(one.at("efficiency"), 1);
  EXPECT_TRUE(one.at("all_reduce").is_null());
  EXPECT_GT(two.at("efficiency").get<double>(), 0);
  EXPECT_EQ(two.at("wait_shares").size(), 2U);
  EXPECT_FALSE(two.at("exposed_share").is_null());
  const json& all_reduce = two.at("all_reduce");
  const double parameters = 256 * 16 + 16 * 16 + 12 * 16 * 16 + 3 * 16;
  EXPECT_EQ(all_reduce.at("bytes"), 4 * parameters);
  EXPECT_EQ(all_reduce.at("bus_bytes_per_s"), all_reduce.at("algorithm_bytes_per_s"));
  EXPECT_TRUE(two.at("link").is_null());
  EXPECT_TRUE(two.at("mfu").is_null());
  EXPECT_EQ(two.at("mfu_unknown"), "no peak is known for CPUs");
  std::filesystem::remove(folder.path() / "b.json");
  expect_nothing_left();
}

TEST_F(BenchCommand, GrowsTheBatchWithWeakScalingAndPrintsATable) {
  const ToolResult result = bench({"--devices", "1,2", "--steps", "2", "--warm-up", "1",
                                   "--repeats", "1", "--scaling", "weak", "--keep"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, ::testing::ContainsRegex("step 3/3 .*eta 0s"));
  EXPECT_THAT(result.out, HasSubstr("weak scaling"));
  EXPECT_THAT(result.out, HasSubstr("DEVICES  BATCH"));
  EXPECT_THAT(result.out, HasSubstr("      1     12"));
  EXPECT_THAT(result.out, HasSubstr("      2     24"));
  EXPECT_THAT(result.out, HasSubstr("MFU unknown: no peak is known for CPUs"));
  EXPECT_EQ(list_runs(folder.path() / "runs").size(), 2U);
}

TEST_F(BenchCommand, RefusesWhatCannotBe) {
  refuses({"--devices", "0,1"}, "--devices must be numbers of devices");
  refuses({"--devices", "2xT4"}, "for others, `lockstep plan RECIPE --devices 2xT4` estimates");
  refuses({"--devices", "cpu:1,1"}, "--devices cpu:1,1 gives 1 twice");
  refuses({"--devices", "cpu:1,cpu:2"}, "such as 1,2,4, but is \"cpu:1,cpu:2\"");
  refuses({"--scaling", "fast"}, "--scaling must be strong or weak");
  refuses({"--out", "nowhere/b.json"}, "nowhere/b.json: No such file or directory");
  refuses({"--steps", "0"}, "--steps must be a whole number from 1");
  refuses({"--devices", "cpu:1,2", "batch.global=13"}, "12 or 14");
  refuses({"--devices", "cpu:1,2", "data.path=nowhere.txt"}, "nowhere.txt");
}

TEST_F(BenchCommand, OverwritesAFileOnlyWithForce) {
  const std::vector<std::string> least{"--devices", "cpu:1", "--steps", "1",         "--warm-up",
                                       "0",         "--out", "b.json",  "--repeats", "1"};
  write_file_atomic(folder.path() / "b.json", "precious");
  refuses(least, "b.json is there already");
  EXPECT_EQ(read_file(folder.path() / "b.json"), "precious");
  std::vector<std::string> forced = least;
  forced.push_back("--force");
  ASSERT_EQ(bench(forced).code, 0);
  EXPECT_EQ(json::parse(read_file(folder.path() / "b.json")).at("rows").size(), 1U);
}

TEST_F(BenchCommand, StandardOutputIsWrittenToAndNeverReplaced) {
  const auto link = std::filesystem::read_symlink("/dev/stdout");
  for (const char* name : {"-", "/dev/stdout"}) {
    const ToolResult result = bench(
        {"--devices", "cpu:1", "--steps", "1", "--warm-up", "0", "--repeats", "1", "--out", name});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(json::parse(result.out).at("rows").size(), 1U);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "-"));
    EXPECT_EQ(std::filesystem::read_symlink("/dev/stdout"), link);
  }
}

TEST_F(BenchCommand, AnInterruptEndsItAndLeavesNothing) {
  std::vector<std::string> all = words({"--devices", "cpu:2", "--steps", "1000000"});
  all.insert(all.begin(), testing::program("lockstep"));
  testing::ToolProcess process(all, folder.path(), environment());
  const auto trains = [&] {
    return std::filesystem::exists(folder.path() / "stderr.txt") &&
           process.err().find("step ") != std::string::npos;
  };
  for (int i = 0; i < 1000 && !trains(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::vector<pid_t> ranks = testing::ranks_of(process.pid());
  EXPECT_EQ(ranks.size(), 2U);
  kill(process.pid(), SIGINT);
  const ToolResult result = process.wait();
  EXPECT_EQ(result.code, 130) << result.err;
  EXPECT_THAT(result.err, HasSubstr("interrupted"));
  for (const pid_t rank : ranks) EXPECT_NE(kill(rank, 0), 0);
  expect_nothing_left();
}

}  // namespace
}  // namespace lockstep
