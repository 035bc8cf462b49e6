// The fewshot recipe from the command to the files that a user keeps.
#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <map>
#include <thread>

#include "core/media/csv_table.h"
#include "fakes/tenths.h"
#include "fakes/test_data.h"
#include "fewshot_runs.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using testing::FewshotRuns;
using testing::operator+;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::on_one_line;
using testing::run_tool;
using testing::ToolProcess;
using testing::ToolResult;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;
using nlohmann::json;

class Fewshot : public FewshotRuns {};

// "13.3 (3 of 14 blocks recomputed)": the last row and the last column, which come near the limit.
TEST_F(Fewshot, NeedsTheMemoryThatTheGuideSays) {
  const std::string page = read_file(fs::path(LOCKSTEP_SOURCE_DIR) / "docs/guide/fewshot.md");
  std::vector<std::string> shots;
  int compared = 0;
  for (const std::string& line : split(page, '\n')) {
    const std::vector<std::string> cells = split(line, '|');
    if (line.starts_with("| GiB |")) shots = cells;
    if (shots.empty() || !trim(cells.size() > 1 ? cells[1] : "").ends_with("²")) continue;
    for (std::size_t i = 2; i < shots.size() && i < cells.size(); ++i) {
      if (trim(cells[i]).empty() || (!cells[1].starts_with(" 512") && trim(shots[i]) != "10"))
        continue;
      const ToolResult result = tool({"plan", "fewshot", "--devices", "2xT4", "--json",
                                      "preset=t4x2", cat("episode.size=", std::stoi(cells[1])),
                                      cat("episode.k_shot=", std::stoi(shots[i]))});
      ASSERT_EQ(result.code, 0) << result.err;
      const json plan = json::parse(result.out);
      const double needed = plan.at("memory").at("needed_bytes").get<double>() / (1 << 30);
      EXPECT_NEAR(needed, std::stod(cells[i]), 0.06) << line;
      const int blocks = plan.at("recomputed_blocks");
      EXPECT_EQ(blocks > 0, cells[i].find("recomputed") != std::string::npos) << line;
      if (blocks > 0)
        EXPECT_THAT(cells[i], HasSubstr(cat(blocks, " of ", plan.at("memory").at("blocks").dump(),
                                            " blocks recomputed")));
      ++compared;
    }
  }
  EXPECT_EQ(compared, 8);
}

// An episode is a micro-batch, and statistics are those of its own pictures.
TEST_F(Fewshot, HasOneCurveOnAnyNumberOfRanks) {
  if (!testing::has_turn_twice(0)) GTEST_SKIP() << testing::in_another_tenth;
  for (const char* statistics : {"rank", "frozen"}) {
    const auto on = [&](int ranks) { return cat(statistics, ranks); };
    for (const int ranks : {1, 2, 3}) {
      const ToolResult result =
          train_small(on(ranks), cat("cpu:", ranks),
                      {"stop.steps=4", "optimizer.kind=sgd", "optimizer.lr=1e-3",
                       cat("norm.statistics=", statistics)});
      ASSERT_EQ(result.code, 0) << result.err;
    }
    expect_same_curve(on(2), on(1), 1e-3);
    expect_same_curve(on(3), on(1), 1e-3);
  }
}

TEST_F(Fewshot, IsBitwiseTheSameOnAnyNumberOfRanksInExactMode) {
  std::vector<double> losses;
  for (const int ranks : {1, 2, 3}) {
    const ToolResult result = train_small(cat("on", ranks), cat("cpu:", ranks),
                                          {"stop.steps=3", "exact=true", "norm.statistics=frozen"});
    ASSERT_EQ(result.code, 0) << result.err;
    std::vector<double> own;
    for (const auto& [step, event] : steps(cat("on", ranks))) own.push_back(event.at("loss"));
    if (losses.empty()) losses = own;
    EXPECT_EQ(own, losses) << ranks << " ranks";
  }
  EXPECT_EQ(losses.size(), 3U);
  // With statistics of the episodes it could not be, which is known before the run has a name.
  const ToolResult refused = train_small("kept", "cpu:1", {"stop.steps=3", "exact=true"});
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("set norm.statistics=frozen"));
  EXPECT_FALSE(fs::exists(run("kept")));
}

// Statistics over ranks span an episode of each.
TEST_F(Fewshot, WithStatisticsOverRanksStandsOnTheNumberOfRanks) {
  if (!testing::has_turn_twice(0)) GTEST_SKIP() << testing::in_another_tenth;
  const Words words{"norm.statistics=sync", "optimizer.kind=sgd", "optimizer.lr=1e-3"};
  const auto with = [&](const std::string& stop) {
    Words all = words;
    all.push_back(stop);
    return all;
  };
  const ToolResult whole = train_small("whole", "cpu:2", with("stop.steps=4"));
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_THAT(whole.err, HasSubstr("norm.rows = 2 rows"));
  ASSERT_EQ(train_small("part", "cpu:2", with("stop.steps=2")).code, 0);
  const ToolResult refused = tool({"resume", "part", "--devices", "cpu:3", "stop.steps=4"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("norm.rows"));
  const ToolResult rest = tool({"resume", "part", "--devices", "cpu:2", "stop.steps=4"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  expect_same_curve("part", "whole", 1e-3);
}

TEST_F(Fewshot, IsTheSameAfterAKillOnAnotherNumberOfRanks) {
  const Words options{"stop.steps=40", "exact=true", "norm.statistics=frozen",
                      "checkpoint.every_steps=5"};
  ASSERT_EQ(train_small("whole", "cpu:1", options).code, 0);
  Words words = small_words("killed", "cpu:3", options);
  words.insert(words.begin(), testing::program("lockstep"));
  ToolProcess process(words, folder.path());
  const fs::path checkpoint = run("killed") / "checkpoints/step-000000010";
  for (int i = 0; i < 600 && !fs::exists(checkpoint); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (const pid_t rank : testing::ranks_of(process.pid())) kill(rank, SIGKILL);
  kill(process.pid(), SIGKILL);
  process.wait();
  ASSERT_FALSE(fs::exists(run("killed") / "checkpoints/step-000000040"));
  const ToolResult resumed = tool({"resume", "killed", "--devices", "cpu:2"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  expect_same_curve("killed", "whole", 0);
}

TEST_F(Fewshot, RefusesToGoOnWithOtherPictures) {
  ASSERT_EQ(train_small("a", "cpu:1", {"stop.steps=2"}).code, 0);
  write_shapes("train", {.pictures = 39, .height = 80, .width = 96});
  const ToolResult changed = tool({"resume", "a", "stop.steps=4"});
  EXPECT_EQ(changed.code, 2) << changed.err;
  EXPECT_THAT(changed.err, HasSubstr("have changed since the run began"));
}

// In the option that says how long a run is. An epoch keeps its episodes, so it is more epochs.
TEST_F(Fewshot, GoesOnToMoreEpisodes) {
  ASSERT_EQ(train_small("a", "cpu:1", {"stop.episodes=4", "batch.global=2"}).code, 0);
  const ToolResult more = tool({"resume", "a", "stop.episodes=8"});
  ASSERT_EQ(more.code, 0) << more.err;
  EXPECT_THAT(more.err, HasSubstr("4 steps = 2 epochs of 2 steps"));
  const ToolResult again = tool({"resume", "a", "stop.episodes=4", "episode.k_shot=2"});
  EXPECT_THAT(again.err, HasSubstr("episode.k_shot cannot change"));

  const ToolResult picked = tool({"train", "fewshot", "--resume", "auto", "episode.k_shot=2"});
  EXPECT_EQ(picked.code, 2) << picked.err;
  EXPECT_THAT(picked.err, HasSubstr("--resume auto goes on with the run a, the newest of fewshot: "
                                    "episode.k_shot cannot change"));
  EXPECT_THAT(picked.err, HasSubstr("start a new run for it: --name NEW"));
}

// They are options, not data. The learning rate and the order of episodes know nothing of them.
TEST_F(Fewshot, GoesOnWithOtherEvaluations) {
  ASSERT_EQ(train_small("a", "cpu:1", {"stop.episodes=4", "batch.global=2"}).code, 0);
  const ToolResult resumed =
      tool({"resume", "a", "stop.episodes=8", "evaluate.episodes=2", "evaluate.shots=1,2"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(on_one_line(resumed.err),
              HasSubstr("evaluations differ from those before: evaluate.episodes=2 (before: 3), "
                        "evaluate.shots=1,2 (before: not set)"));
  EXPECT_TRUE(metrics("a").contains("AP50_novel_2shot")) << metrics("a");
  // And the next resume has them from the record.
  const ToolResult again = tool({"resume", "a", "stop.episodes=12"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(on_one_line(again.err), Not(HasSubstr("evaluations differ")));
}

TEST_F(Fewshot, OptionsOfTrainingAreRefusedWhereNothingIsTrained) {
  ASSERT_EQ(train_small("a", "cpu:1", {"stop.episodes=4", "batch.global=2"}).code, 0);
  const ToolResult result = tool({"evaluate", "a", "stop.episodes=5", "--devices", "cpu:1"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("stop.episodes has no effect: lockstep evaluate does not train"),
                    HasSubstr("hint: did you mean evaluate.episodes=5?")));
  EXPECT_THAT(tool({"predict", "a", "optimizer.lr=3"}).err,
              AllOf(HasSubstr("optimizer.lr has no effect: lockstep predict does not train"),
                    HasSubstr("hint: leave out optimizer.lr")));
  const ToolResult same = tool({"evaluate", "a", "stop.episodes=4", "schedule.kind=constant",
                                "evaluate.episodes=1", "--devices", "cpu:1"});
  EXPECT_EQ(same.code, 0) << "a line may be given again\n" << same.err;
  ASSERT_EQ(tool({"resume", "a", "stop.episodes=8"}).code, 0);
  const ToolResult longer =
      tool({"evaluate", "a", "stop.episodes=8", "evaluate.episodes=1", "--devices", "cpu:1"});
  EXPECT_EQ(longer.code, 0) << "and that of a resume\n" << longer.err;
}

// In the option that set the length, whichever other one was given.
TEST_F(Fewshot, SaysWhichOptionEndsARunThatHasEnded) {
  ASSERT_EQ(train_small("a", "cpu:1", {"stop.episodes=4", "batch.global=2"}).code, 0);
  const ToolResult shorter = tool({"resume", "a", "stop.episodes=2"});
  EXPECT_EQ(shorter.code, 2);
  EXPECT_THAT(shorter.err, AllOf(HasSubstr("would end at step 1 (stop.episodes=2), but its "
                                           "checkpoint is of step 2 already"),
                                 HasSubstr("hint: set stop.episodes to more than 4")));
  const ToolResult same = tool({"resume", "a", "stop.steps=10"});
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_THAT(on_one_line(same.err),
              HasSubstr("no step is left: stop.episodes=4 ends the run at step 2, which it has "
                        "reached; to go further, set stop.episodes to more than 4"));
}

TEST_F(Fewshot, ATableOfGpusSaysOnceWhatTheDataAre) {
  const ToolResult table = tool({"plan", "fewshot", "--table"});
  ASSERT_EQ(table.code, 0) << table.err;
  const std::size_t first = table.err.find(" to train on, ");
  EXPECT_NE(first, std::string::npos) << table.err;
  EXPECT_EQ(table.err.rfind(" to train on, "), first) << table.err;
}

// Each size that the warning offers is one that the estimate says fits.
TEST_F(Fewshot, OffersSizesThatFitTheMemory) {
  const Words plan{"plan",      "fewshot", "preset=t4x2", "episode.size=1024", "episode.k_shot=10",
                   "--devices", "2xT4"};
  const ToolResult large = tool(plan);
  ASSERT_EQ(large.code, 0) << large.err;
  const std::string text = join(split(large.out + large.err, '\n'), " ");
  EXPECT_THAT(text, HasSubstr("more than the"));
  std::size_t offered = 0;
  for (std::string word : split(text, ' ')) {
    if (word.starts_with('(')) word.erase(0, 1);
    if (!word.starts_with("episode.") || word.find('=') == word.npos) continue;
    ++offered;
    const ToolResult smaller = tool(plan + Words{word});
    EXPECT_THAT(join(split(smaller.out + smaller.err, '\n'), " "), Not(HasSubstr("more than the")))
        << word;
  }
  EXPECT_GT(offered, 0U);
}

// Real pictures: COCO json with two sets, and Pascal VOC without a validation set.
TEST_F(Fewshot, TakesTheChessPiecesAsCocoAndAsVoc) {
  if (!testing::has_turn_twice(1)) GTEST_SKIP() << testing::in_another_tenth;
  const testing::TestData coco = testing::test_data("fewshot/chess"),
                          voc = testing::test_data("fewshot/chess_voc");
  if (!coco.why_not.empty()) GTEST_SKIP() << coco.why_not;
  if (!voc.why_not.empty()) GTEST_SKIP() << voc.why_not;
  for (const int ranks : {1, 2}) {
    const ToolResult result =
        train_small(cat("coco", ranks), cat("cpu:", ranks),
                    {"data.path=" + coco.path, "data.novel=black-queen,white-queen,white-king",
                     "stop.steps=2", "optimizer.kind=sgd", "optimizer.lr=1e-3"});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("202 pictures to train on, 58 to validate on"));
  }
  expect_same_curve("coco2", "coco1", 1e-3);
  EXPECT_EQ(metrics("coco2").size(), 10U);

  const ToolResult of_voc =
      train_small("voc", "cpu:2",
                  {"data.path=" + voc.path, "data.novel=", "data.novel_share=0.2",
                   "data.valid_share=0.3", "stop.steps=2"});
  ASSERT_EQ(of_voc.code, 0) << of_voc.err;
  const ToolResult found = tool({"predict", "voc", "images=" + voc.path, "out=found"});
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_TRUE(fs::exists(folder.path() / "found/0af.jpg"));
}

}  // namespace
}  // namespace lockstep
