// Names of files, lists of categories and what is written.
#include <gmock/gmock.h>

#include "core/base/files/files.h"
#include "core/media/zip_reader.h"
#include "recipes/dimabsa/sentences/categories.h"
#include "recipes/dimabsa/sentences/files/file_name.h"
#include "recipes/dimabsa/sentences/files/reader.h"
#include "recipes/dimabsa/sentences/files/writer.h"
#include "tests/fakes/error_of.h"

namespace lockstep::dimabsa {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST(FileName, SaysLanguageDomainSplitAndTask) {
  const auto name = parse_file_name("/data/eng_restaurant_train_task3.jsonl");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->language, "eng");
  EXPECT_EQ(name->domain, "restaurant");
  EXPECT_EQ(name->split, "train");
  EXPECT_EQ(name->task, Task::quadruplets);
  EXPECT_EQ(parse_file_name("zho_laptop_dev_task1.jsonl")->task, Task::aspects);
  EXPECT_EQ(parse_file_name("zho_laptop_train_alltasks.jsonl")->task, std::nullopt);
}

TEST(FileName, OfPredictionsHasItsPrefix) {
  const auto name = parse_file_name("subtask_2/pred_jpn_hotel.jsonl");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->split, "pred");
  EXPECT_EQ(name->language, "jpn");
  EXPECT_EQ(name->domain, "hotel");
  EXPECT_EQ(prediction_name(Task::triplets, "jpn", "hotel"), "subtask_2/pred_jpn_hotel.jsonl");
}

TEST(FileName, OfAnotherFormSaysNothing) {
  for (const char* const name : {"train.jsonl", "data_eng.jsonl", "", "eng_.jsonl", "ENG_hotel.x",
                                 "the_reviews.jsonl", "ptxx_hotel_dev.jsonl"})
    EXPECT_FALSE(parse_file_name(name)) << name;
}

TEST(FileName, HasTheSharedTasksCodesOfPortuguese) {
  for (const char* const code : {"ptbr", "ptmz"}) {
    const auto name = parse_file_name(std::string(code) + "_stance_dev.jsonl");
    ASSERT_TRUE(name) << code;
    EXPECT_EQ(name->language, code);
  }
  EXPECT_TRUE(parse_file_name("eng_hotel_alltasks.jsonl"));
}

TEST(CategoryFile, HasOneALine) {
  EXPECT_THAT(parse_categories("\xEF\xBB\xBF"
                               "FOOD#QUALITY\r\n\n  FOOD#PRICES \nfood#quality\nFOOD#QUALITY",
                               "c.txt"),
              ElementsAre("FOOD#QUALITY", "FOOD#PRICES"));
}

TEST(CategoryFile, WithoutACategoryIsRefused) {
  EXPECT_THAT(error_of([] { parse_categories(" \n\n", "c.txt"); }),
              StartsWith("c.txt holds no category"));
  EXPECT_THAT(error_of([] { parse_categories("A\nB\tC", "c.txt"); }),
              StartsWith("c.txt:2: a category holds a tab"));
  EXPECT_THAT(error_of([] { parse_categories("A\n\xFF", "c.txt"); }),
              StartsWith("c.txt:2: the category is not valid UTF-8"));
}

Tuple tuple(const char* aspect, const char* opinion, const char* category, double valence,
            double arousal) {
  return {.aspect = aspect,
          .opinion = opinion,
          .category = category,
          .va = ValenceArousal{valence, arousal}};
}

TEST(Writer, WritesEachTasksForm) {
  const Sentence sentence{.id = "r1", .text = "x", .tuples = {tuple("a", "b", "C#D", 7.126, 5)}};
  EXPECT_EQ(prediction_line(Task::aspects, sentence),
            R"({"ID":"r1","Aspect_VA":[{"Aspect":"a","VA":"7.13#5.00"}]})");
  EXPECT_EQ(prediction_line(Task::triplets, sentence),
            R"({"ID":"r1","Triplet":[{"Aspect":"a","Opinion":"b","VA":"7.13#5.00"}]})");
  EXPECT_EQ(prediction_line(Task::quadruplets, sentence),
            R"({"ID":"r1","Quadruplet":[{"Aspect":"a","Opinion":"b","Category":"C#D",)"
            R"("VA":"7.13#5.00"}]})");
  EXPECT_EQ(prediction_line(Task::triplets, {.id = "r2"}), R"({"ID":"r2","Triplet":[]})");
}

TEST(Writer, ClampsValenceAndArousal) {
  const Sentence sentence{.id = "1",
                          .text = "",
                          .tuples = {tuple("a", "b", "", 0.2, 9.7), tuple("c", "d", "", 1, 9),
                                     tuple("e", "f", "", std::nan(""), 8.999)}};
  EXPECT_EQ(prediction_line(Task::triplets, sentence),
            R"({"ID":"1","Triplet":[{"Aspect":"a","Opinion":"b","VA":"1.00#9.00"},)"
            R"({"Aspect":"c","Opinion":"d","VA":"1.00#9.00"},)"
            R"({"Aspect":"e","Opinion":"f","VA":"5.00#9.00"}]})");
}

TEST(Writer, DropsDuplicates) {
  const std::vector<Tuple> tuples{tuple("a", "b", "X", 5, 5), tuple("A", "B", "x", 6, 6),
                                  tuple("a", "b", "Y", 7, 7), tuple("a", "c", "X", 8, 8)};
  EXPECT_EQ(without_duplicates(Task::quadruplets, tuples).size(), 3u);
  EXPECT_EQ(without_duplicates(Task::triplets, tuples).size(), 2u);
  EXPECT_EQ(without_duplicates(Task::aspects, tuples).size(), 1u);
  EXPECT_EQ(without_duplicates(Task::triplets, tuples)[0].va->valence, 5);  // the first stays
}

TEST(Writer, WritesWhatTheReaderReads) {
  const TemporaryDirectory folder;
  const std::vector<Sentence> sentences{
      {.id = "\"1\"", .text = "", .tuples = {tuple("“été”\n", "ж", "A#B", 1.25, 8.5)}},
      {.id = "2"}};
  const auto path = write_predictions(folder.path(), Task::quadruplets, "eng", "hotel", sentences);
  EXPECT_EQ(path, folder.path() / "subtask_3/pred_eng_hotel.jsonl");
  const SentenceFile file = read_predictions(path, Task::quadruplets);
  ASSERT_EQ(file.sentences.size(), 2u);
  EXPECT_EQ(file.sentences[0].id, "\"1\"");
  EXPECT_EQ(file.sentences[0].tuples[0].aspect, "“été”\n");
  EXPECT_EQ(file.sentences[0].tuples[0].va->valence, 1.25);
  EXPECT_TRUE(file.sentences[1].tuples.empty());
}

TEST(Writer, PutsFilesIntoASubmission) {
  const TemporaryDirectory folder;
  const auto path = write_predictions(folder.path(), Task::triplets, "eng", "hotel", {{.id = "1"}});
  const auto zip = folder.path() / "submission.zip";
  write_submission(zip, {{prediction_name(Task::triplets, "eng", "hotel"), path}});
  ZipReader reader(zip);
  ASSERT_EQ(reader.entries().size(), 1u);
  EXPECT_EQ(reader.entries()[0].name, "subtask_2/pred_eng_hotel.jsonl");
}

}  // namespace
}  // namespace lockstep::dimabsa
