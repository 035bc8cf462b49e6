// lockstep train --seeds: repeats one after the other, and what follows when one of them fails or
// all of them are interrupted.
#include "failing_run.h"
#include "fakes/tenths.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/folder/run_dir.h"
#include "runtime/run/groups.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Repeats : public FailingRun {
 protected:
  static Words seeds(int count, Words more = {}) {
    more.insert(more.end(), {"--name", "base", "--seeds", std::to_string(count)});
    return more;
  }
  std::filesystem::path root() const { return folder.path() / "runs"; }
  RunState state(int repeat) const {
    return RunDir::open("base-s" + std::to_string(repeat), root()).state();
  }
  // The last line of what a command says: what goes on.
  static std::string command_in(const std::string& err) {
    const std::size_t at = err.rfind("  lockstep train ");
    return at == std::string::npos ? "" : err.substr(at + 2, err.find('\n', at) - at - 2);
  }
  ToolResult tool(const Words& words) const { return testing::run_tool(words, folder.path()); }
};

TEST_F(Repeats, TrainSeedsInTurnAsRunsOfOneGroup) {
  if (!testing::has_turn_twice(4)) GTEST_SKIP() << testing::in_another_tenth;
  const ToolResult result = train("", seeds(3, {"seed=7", "--then", "report"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("3 repeats of base, one after the other: seeds 7 to 9"));
  EXPECT_THAT(result.err, HasSubstr("3 of 3 repeats of base have finished"));
  const std::vector<RunDir> runs = runs_of_group(root(), "base");
  ASSERT_EQ(runs.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(runs[i].name(), "base-s" + std::to_string(i + 1));
    EXPECT_EQ(runs[i].record().at("config").at("seed"), 7 + i);
    EXPECT_TRUE(std::filesystem::exists(runs[i].path() / "report.html"));
  }
  ASSERT_EQ(train("", {"--name", "wide", "--seeds", "2", "optimizer.lr=0.002"}).code, 0);
  const ToolResult compared = tool({"compare", "--groups", "base", "wide"});
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("3 against 2 repeats"));
}

TEST_F(Repeats, OneThatFailsKeepsNoOtherFromRunning) {
  if (!testing::has_turn_twice(3)) GTEST_SKIP() << testing::in_another_tenth;
  once = true;
  const ToolResult result = train("segv 7 1", seeds(3));
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("2 of 3 repeats of base have finished; go on with the others"));
  EXPECT_EQ(state(1), RunState::failed);
  EXPECT_EQ(state(2), RunState::finished);
  EXPECT_EQ(state(3), RunState::finished);
  const ToolResult rest = train("", seeds(3, {"--resume", "auto"}));
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(state(1), RunState::finished);
  EXPECT_THAT(rest.err, HasSubstr("run base-s2 has finished"));
}

TEST_F(Repeats, AfterAnInterruptThePrintedCommandGoesOnWithThoseThatAreLeft) {
  if (!testing::has_turn_twice(1)) GTEST_SKIP() << testing::in_another_tenth;
  ASSERT_EQ(train("", seeds(1)).code, 0);
  const auto trained = std::filesystem::last_write_time(root() / "base-s1/events.jsonl");
  ToolProcess first(train_words(seeds(3, {"--resume", "auto", "--then", "report"})), folder.path(),
                    {{"LOCKSTEP_TEST_FAULTS", "loop 7 1"}});
  const auto saved = [&] {
    const auto checkpoint = newest_good(root() / "base-s2/checkpoints");
    return checkpoint && checkpoint->step == 6;
  };
  for (int i = 0; i < 12000 && !saved(); ++i) system_clock().sleep_s(0.01);
  for (int i = 0; i < 2; ++i) {  // the rank that loops ends no step
    system_clock().sleep_s(1);
    kill(first.pid(), SIGINT);
  }
  const ToolResult stopped = first.wait();
  EXPECT_NE(stopped.code, 0) << stopped.err;
  EXPECT_FALSE(std::filesystem::exists(root() / "base-s3")) << "an interrupt ends all";
  const std::string command = command_in(stopped.err);
  ASSERT_THAT(command, HasSubstr("--name base --resume auto"));
  EXPECT_THAT(command, HasSubstr("--seeds 3"));
  const ToolResult rest =
      ToolProcess({"sh", "-c", command}, folder.path(),
                  {{"PATH", std::string(LOCKSTEP_BUILD_DIR) + ":" + std::getenv("PATH")}})
          .wait();
  ASSERT_EQ(rest.code, 0) << rest.err;
  for (const int repeat : {1, 2, 3}) EXPECT_EQ(state(repeat), RunState::finished) << repeat;
  EXPECT_EQ(std::filesystem::last_write_time(root() / "base-s1/events.jsonl"), trained)
      << "what has finished is skipped";
}

TEST_F(Repeats, AreRefusedBeforeAnythingRuns) {
  ASSERT_EQ(train("", {"--name", "base-s3"}).code, 0);
  const auto refused = [&](const Words& words) {
    const ToolResult result = tool([&] {
      Words all = train_words(words);
      all.erase(all.begin());
      return all;
    }());
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_FALSE(std::filesystem::exists(root() / "base-s1"));
    return result.err;
  };
  EXPECT_THAT(refused(seeds(3)), HasSubstr("run \"base-s3\" is there already"));
  EXPECT_THAT(refused(seeds(3, {"--resume", "auto"})), HasSubstr("base-s3"))
      << "it is no repeat of base";
  EXPECT_THAT(refused({"--name", "base", "--seeds", "0"}), HasSubstr("from 1 to 1000"));
  EXPECT_THAT(refused(seeds(2, {"stop.budget=1h"})), HasSubstr("stop.budget"));
  EXPECT_THAT(refused({"--name", "a=b", "--seeds", "2"}), HasSubstr("without ="));
  EXPECT_THAT(refused(seeds(2, {"seed=-1"})), Not(HasSubstr("fault of Lockstep")));
}

TEST_F(Repeats, ATimeLimitIsThatOfTheWholeCommand) {
  const ToolResult result = train("", seeds(3, {"stop.steps=1000000", "stop.after=4s"}));
  EXPECT_EQ(result.code, 75) << result.err;
  EXPECT_THAT(result.err, HasSubstr("0 of 3 repeats of base have finished"));
  EXPECT_FALSE(std::filesystem::exists(root() / "base-s2"));
}

}  // namespace
}  // namespace lockstep
