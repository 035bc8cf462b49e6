// `lockstep score dimabsa`: files on both sides.
#include "recipes/dimabsa/sentences/scores/score_files.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "core/base/files/files.h"
#include "recipes/dimabsa/sentences/files/find_predictions.h"
#include "recipes/dimabsa/sentences/files/writer.h"
#include "recipes/dimabsa/sentences/scores/score_list.h"
#include "tests/fakes/error_of.h"

namespace lockstep::dimabsa {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

std::string choose(const std::vector<std::string>& names, const WantedPredictions& wanted = {}) {
  return choose_predictions(names, wanted, "DIR");
}

TEST(FindPredictions, TakesTheTasksOwnFolder) {
  const std::vector<std::string> names{"subtask_2/pred_eng_hotel.jsonl",
                                       "subtask_3/pred_eng_hotel.jsonl", "notes.txt"};
  EXPECT_EQ(choose(names), names[1]);
  EXPECT_EQ(choose(names, {.task = Task::triplets}), names[0]);
  EXPECT_EQ(choose({"x/subtask_3/pred_eng_hotel.jsonl", "pred_eng_hotel.jsonl"}),
            "x/subtask_3/pred_eng_hotel.jsonl");
}

TEST(FindPredictions, TakesLanguageAndDomain) {
  const std::vector<std::string> names{"subtask_3/pred_eng_hotel.jsonl",
                                       "subtask_3/pred_zho_hotel.jsonl"};
  EXPECT_EQ(choose(names, {.language = "zho", .domain = "hotel"}), names[1]);
  EXPECT_THAT(error_of([&] { choose(names); }),
              AllOf(HasSubstr("DIR holds 2 files that could be meant: " + names[0]),
                    HasSubstr("data.language")));
  EXPECT_THAT(error_of([&] { choose(names, {.language = "jpn", .domain = "hotel"}); }),
              HasSubstr("DIR holds no predictions of task 3 (subtask_3/pred_jpn_hotel.jsonl)"));
}

TEST(FindPredictions, TakesTheOnlyFileThatCouldBe) {
  EXPECT_EQ(choose({"out.jsonl", "out.csv"}), "out.jsonl");
  EXPECT_EQ(choose({"gold.jsonl", "pred_eng_hotel.jsonl"}), "pred_eng_hotel.jsonl");
  EXPECT_THAT(error_of([] { choose({}); }), HasSubstr("DIR holds no predictions of task 3"));
}

TEST(FindPredictions, NamesTheTaskThatIsThere) {
  EXPECT_THAT(error_of([] { choose({"subtask_2/pred_eng_hotel.jsonl"}); }),
              HasSubstr("there are some of task 2: task=2"));
}

Sentence rated_sentence(const char* id, const char* opinion, double valence = 5) {
  return {.id = id,
          .text = "good soup",
          .tuples = {{.aspect = "soup",
                      .opinion = opinion,
                      .category = "FOOD#QUALITY",
                      .va = ValenceArousal{valence, 5}}}};
}

// A gold file and predictions as a user has them.
struct Files {
  TemporaryDirectory folder;
  std::filesystem::path gold = folder.path() / "eng_hotel_dev_task3.jsonl";
  std::vector<std::string> said;

  Files() {
    std::string lines;
    for (const char* const id : {"1", "2"})
      lines += std::string(R"({"ID": ")") + id +
               R"(", "Text": "good soup", "Quadruplet": [{"Aspect": "soup", "Opinion": "good", )"
               R"("Category": "FOOD#QUALITY", "VA": "5.00#5.00"}]})"
               "\n";
    write_file_atomic(gold, lines);
  }
  std::map<std::string, double> scores(const std::filesystem::path& predictions) {
    std::map<std::string, double> values;
    const auto list = score_files({.gold = gold, .resamples = 100},
                                  {.predictions = predictions,
                                   .say = [&](const std::string& line) { said.push_back(line); }});
    for (const Score& score : list) values[score.name] = score.value;
    return values;
  }
  std::filesystem::path write(const std::vector<Sentence>& sentences) {
    return write_predictions(folder.path() / "out", Task::quadruplets, "eng", "hotel", sentences);
  }
};

// As the shared task's scorer does.
TEST(ScoreFiles, TakesGoldOutOfRangeAsItIs) {
  Files files;
  write_file_atomic(files.gold, R"({"ID": "1", "Text": "good soup", "Quadruplet": [{"Aspect": )"
                                R"("soup", "Opinion": "good", "Category": "FOOD#QUALITY", "VA": )"
                                R"("5#16.5"}]})");
  const auto scores = files.scores(files.write({rated_sentence("1", "good")}));
  EXPECT_EQ(scores.at("rmse_va"), 11.5);
  EXPECT_EQ(scores.at("cf1"), 0);
  EXPECT_THAT(files.said, Contains(HasSubstr("1 VA is not from 1 to 9 and stays as it is")));
}

TEST(ScoreFiles, ScoresAFileAFolderAndAnArchiveAlike) {
  Files files;
  const auto path = files.write({rated_sentence("1", "good"), rated_sentence("2", "bad")});
  const auto zip = files.folder.path() / "submission.zip";
  write_submission(zip, {{"subtask_3/pred_eng_hotel.jsonl", path}});
  for (const auto& predictions : {path, files.folder.path() / "out", zip}) {
    const auto scores = files.scores(predictions);
    EXPECT_EQ(scores.at("cf1"), 0.5) << predictions;
    EXPECT_EQ(scores.at("f1"), 0.5);
    EXPECT_EQ(scores.at("rmse_va"), 0);
    EXPECT_EQ(scores.at("sentences"), 2);
  }
  EXPECT_THAT(files.said, Contains(HasSubstr("cf1 0.5000, 95 % interval over sentences")));
  EXPECT_THAT(files.said, Contains(HasSubstr("without NULL")));
  EXPECT_THAT(files.said, Contains(HasSubstr("FOOD#QUALITY")));
}

TEST(ScoreFiles, KnowTheTaskByNamesElseByTheFirstLine) {
  using ::testing::ElementsAre;
  Files files;
  const auto path = files.write({rated_sentence("1", "good")});
  const auto out = files.folder.path() / "out";
  for (const auto& named : {path, out, out / "subtask_3"})
    EXPECT_THAT(tasks_of_predictions(named), ElementsAre(Task::quadruplets)) << named;
  const auto zip = files.folder.path() / "submission.zip";
  write_submission(zip, {{"subtask_1/pred_eng_hotel.jsonl", path}});
  EXPECT_THAT(tasks_of_predictions(zip), ElementsAre(Task::aspects));
  const auto bare = files.folder.path() / "bare.zip";
  write_submission(bare, {{"mine.jsonl", path}});
  EXPECT_THAT(tasks_of_predictions(bare), ElementsAre(Task::quadruplets));
  const auto mine = files.folder.path() / "mine.jsonl";
  write_file_atomic(mine, prediction_lines(Task::triplets, {rated_sentence("1", "good")}));
  EXPECT_THAT(tasks_of_predictions(mine), ElementsAre(Task::triplets));
  write_file_atomic(mine, "no line of JSON");
  EXPECT_THAT(tasks_of_predictions(mine), ElementsAre());
  write_predictions(out, Task::triplets, "eng", "hotel", {{.id = "1"}});
  EXPECT_THAT(tasks_of_predictions(out), ElementsAre(Task::triplets, Task::quadruplets));
}

TEST(ScoreFiles, CountsMissingAndUnknownIds) {
  Files files;
  const auto scores =
      files.scores(files.write({rated_sentence("1", "good"), rated_sentence("x", "good")}));
  EXPECT_EQ(scores.at("cprecision"), 0.5);
  EXPECT_EQ(scores.at("crecall"), 0.5);
  EXPECT_THAT(files.said, Contains(HasSubstr("1 of 2 sentences have no prediction; their tuples "
                                             "count as missed, first: 2")));
  EXPECT_THAT(files.said, Contains(HasSubstr("1 predicted ID is not in the gold file; their "
                                             "tuples count as spurious, first: x")));
}

TEST(ScoreFiles, RefusesPredictionsOfOtherSentences) {
  Files files;
  const auto path = files.write({rated_sentence("x", "good")});
  EXPECT_THAT(error_of([&] { files.scores(path); }), HasSubstr("no ID of " + path.string()));
  const auto zip = files.folder.path() / "submission.zip";
  write_submission(zip, {{"subtask_3/pred_eng_hotel.jsonl", path}});
  EXPECT_THAT(error_of([&] { files.scores(zip); }),
              HasSubstr("no ID of " + zip.string() + "/pred_eng_hotel.jsonl is in "));
}

TEST(ScoreList, HasTheNamesOfItsTask) {
  EXPECT_THAT(score_names(Task::aspects),
              ::testing::ElementsAre("rmse_va", "rmse_va_norm", "pearson_v", "pearson_a"));
  EXPECT_THAT(score_names(Task::triplets),
              ::testing::ElementsAre("f1", "cf1", "cprecision", "crecall", "precision", "recall",
                                     "rmse_va"));
  const auto list = score_list(Task::triplets, {});
  EXPECT_EQ(list[0].value, 0);
  EXPECT_TRUE(std::isnan(list[6].value));
  EXPECT_TRUE(list[6].lower_is_better);
}

TEST(ScoreIntervals, HoldTheScoreAndFollowFromTheSeed) {
  Aligned aligned;
  for (int i = 0; i < 40; ++i) {
    aligned.gold.push_back(rated_sentence("", "good"));
    aligned.predicted.push_back(rated_sentence("", i % 4 == 0 ? "bad" : "good"));
  }
  const BootstrapOptions options{.resamples = 200};
  const auto intervals = score_intervals(Task::triplets, aligned, options);
  ASSERT_EQ(intervals.size(), 2u);
  EXPECT_EQ(intervals[0].name, "cf1");
  EXPECT_DOUBLE_EQ(intervals[0].interval.estimate, 0.75);
  EXPECT_LT(intervals[0].interval.low, 0.75);
  EXPECT_GT(intervals[0].interval.high, 0.75);
  EXPECT_EQ(score_intervals(Task::triplets, aligned, options)[0].interval, intervals[0].interval);
  EXPECT_EQ(score_intervals(Task::aspects, aligned, options)[0].name, "rmse_va");
}

}  // namespace
}  // namespace lockstep::dimabsa
