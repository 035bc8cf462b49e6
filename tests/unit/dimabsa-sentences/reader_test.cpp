#include "recipes/dimabsa/sentences/files/reader.h"

#include <gmock/gmock.h>

#include "tests/fakes/error_of.h"

namespace lockstep::dimabsa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* soup =
    R"({"ID": "a1", "Text": "The soup was great.", "Quadruplet": [{"Aspect": "soup", "Opinion": )"
    R"("great", "Category": "FOOD#QUALITY", "VA": "7.50#6.25"}]})";

SentenceFile parse(const std::string& text, const ReadOptions& options = {}) {
  return parse_sentences(text, "a.jsonl", options);
}

std::string quad(const std::string& id, const std::string& text, const std::string& aspect,
                 const std::string& opinion, const std::string& category, const std::string& va) {
  return R"({"ID": ")" + id + R"(", "Text": ")" + text + R"(", "Quadruplet": [{"Aspect": ")" +
         aspect + R"(", "Opinion": ")" + opinion + R"(", "Category": ")" + category +
         R"(", "VA": ")" + va + "\"}]}\n";
}

TEST(Reader, ReadsQuadruplets) {
  const SentenceFile file = parse(soup);
  ASSERT_EQ(file.sentences.size(), 1u);
  const Sentence& sentence = file.sentences[0];
  EXPECT_EQ(sentence.id, "a1");
  EXPECT_EQ(sentence.text, "The soup was great.");
  EXPECT_EQ(sentence.line, 1);
  ASSERT_EQ(sentence.tuples.size(), 1u);
  EXPECT_EQ(sentence.tuples[0].aspect, "soup");
  EXPECT_EQ(sentence.tuples[0].opinion, "great");
  EXPECT_EQ(sentence.tuples[0].category, "FOOD#QUALITY");
  ASSERT_TRUE(sentence.tuples[0].va);
  EXPECT_EQ(sentence.tuples[0].va->valence, 7.5);
  EXPECT_EQ(sentence.tuples[0].va->arousal, 6.25);
  EXPECT_TRUE(file.warnings.empty());
}

TEST(Reader, SkipsBlankLinesAndAByteOrderMarkAndCountsLines) {
  const SentenceFile file = parse(std::string("\xEF\xBB\xBF\n \r\n") + soup + "\r\n\n");
  ASSERT_EQ(file.sentences.size(), 1u);
  EXPECT_EQ(file.sentences[0].line, 3);
}

TEST(Reader, TakesTripletsOfQuadrupletsForTask2) {
  const Sentence sentence = parse(soup, {.task = Task::triplets}).sentences[0];
  ASSERT_EQ(sentence.tuples.size(), 1u);
  EXPECT_EQ(sentence.tuples[0].opinion, "great");
  EXPECT_EQ(sentence.tuples[0].category, "");
}

TEST(Reader, TakesTripletsWhereTheListOfQuadrupletsIsEmpty) {
  const auto file =
      parse(R"({"ID": "1", "Text": "ok food", "Quadruplet": [], "Triplet": [{"Aspect": "food", )"
            R"("Opinion": "ok", "VA": "5#5"}]})",
            {.task = Task::triplets});
  EXPECT_EQ(file.sentences[0].tuples.size(), 1u);
}

TEST(Reader, TakesAnAspectsFirstVaForTask1) {
  const auto file =
      parse(R"({"ID": "1", "Text": "ok, good food", "Quadruplet": [)"
            R"({"Aspect": "food", "Opinion": "ok", "Category": "F#Q", "VA": "5#5"},)"
            R"({"Aspect": "food", "Opinion": "good", "Category": "F#Q", "VA": "7#6"}]})",
            {.task = Task::aspects});
  ASSERT_EQ(file.sentences[0].tuples.size(), 1u);
  EXPECT_EQ(file.sentences[0].tuples[0].opinion, "");
  EXPECT_EQ(file.sentences[0].tuples[0].va->valence, 5);
}

TEST(Reader, ReadsAspectVa) {
  const auto file =
      parse(R"({"ID": "1", "Text": "food", "Aspect_VA": [{"Aspect": "food", "VA": " 5.5 #6"}]})",
            {.task = Task::aspects});
  EXPECT_EQ(file.sentences[0].tuples[0].va->valence, 5.5);
}

TEST(Reader, ReadsTheAspectsToPredictFor) {
  const auto file = parse(R"({"ID": "1", "Text": "food", "Aspect": ["food", "NULL", "food"]})",
                          {.task = Task::aspects, .labelled = false});
  ASSERT_EQ(file.sentences[0].tuples.size(), 2u);
  EXPECT_EQ(file.sentences[0].tuples[1].aspect, "NULL");
  EXPECT_FALSE(file.sentences[0].tuples[0].va);
  const auto labels =
      parse(R"({"ID": "1", "Text": "food", "Aspect_VA": [{"Aspect": "food", "VA": "5#6"}]})",
            {.task = Task::aspects, .labelled = false});
  ASSERT_EQ(labels.sentences[0].tuples.size(), 1u);
  EXPECT_FALSE(labels.sentences[0].tuples[0].va);
}

TEST(Reader, ReadsInputWithoutTuples) {
  const auto file = parse(R"({"ID": "1", "Text": "food"})", {.labelled = false});
  EXPECT_TRUE(file.sentences[0].tuples.empty());
}

TEST(Reader, NamesFileAndLineOfWhatIsNotJson) {
  EXPECT_THAT(error_of([] { parse(std::string(soup) + "\n{\"ID\": 3"); }),
              StartsWith("a.jsonl:2: the line is not JSON | jsonl has"));
  EXPECT_THAT(error_of([] { parse("[1]"); }), StartsWith("a.jsonl holds one JSON list"));
  EXPECT_THAT(error_of([] { parse(std::string(soup) + "\n[1]"); }),
              StartsWith("a.jsonl:2: a line must be an object, but is a list"));
  EXPECT_THAT(error_of([] { parse("{\"ID\": \"\xFF\"}"); }),
              StartsWith("a.jsonl:1: the line is not valid UTF-8"));
}

TEST(Reader, NamesWhatIsMissingOrOfAnotherType) {
  EXPECT_THAT(error_of([] { parse(R"({"Id": "1", "Text": "food"})"); }),
              ::testing::AllOf(HasSubstr("a.jsonl:1: there is no key \"ID\""),
                               HasSubstr("is \"Id\" meant for it?")));
  EXPECT_THAT(error_of([] { parse(R"({"ID": "1", "Text": "food"})"); }),
              ::testing::AllOf(HasSubstr("a.jsonl:1: there is no key \"Quadruplet\""),
                               HasSubstr("it has: ID, Text; \"Data in other forms\" in "
                                         "docs/guide/dimabsa.md")));
  EXPECT_THAT(error_of([] { parse(R"({"ID": 1, "Text": "food"})"); }),
              ::testing::AllOf(HasSubstr("a.jsonl:1: \"ID\" must be a text, but is the number 1"),
                               HasSubstr("tostring")));
  EXPECT_THAT(error_of([] { parse(R"({"ID": "1", "Text": "x", "Quadruplet": {}})"); }),
              HasSubstr("\"Quadruplet\" must be a list, but is an object"));
  EXPECT_THAT(error_of([] { parse(R"({"ID": "1", "Text": "x", "Quadruplet": [3]})"); }),
              HasSubstr("\"Quadruplet\" must be a list of objects"));
  EXPECT_THAT(
      error_of([] { parse(R"({"ID": "1", "Text": "x", "Quadruplet": [{"Aspect": null}]})"); }),
      HasSubstr("\"Aspect\" must be a text, but is null"));
}

TEST(Reader, RefusesVaThatIsNoTwoNumbersOrOutOfRange) {
  for (const char* const va : {"", "5", "5.0#", "#5", "five#5", "5#5#5", "nan#5", "5#inf", "5,0#5"})
    EXPECT_THAT(error_of([&] { parse(quad("1", "ok food", "food", "ok", "F#Q", va)); }),
                StartsWith("a.jsonl:1: VA must be two numbers, but is \"" + std::string(va)));
  for (const char* const va : {"0.99#5", "5#9.01", "-3#5"})
    EXPECT_THAT(error_of([&] { parse(quad("1", "ok food", "food", "ok", "F#Q", va)); }),
                HasSubstr("but both go from 1 to 9"));
  EXPECT_EQ(parse(quad("1", "ok food", "food", "ok", "F#Q", "1#9")).sentences.size(), 1u);
}

// The published training files of three languages hold such a line.
TEST(Reader, TakesVaOutOfRangeAsItIsAskedFor) {
  const std::string text = quad("1", "ok food", "food", "ok", "F#Q", "5#5") +
                           quad("2", "ok food", "food", "ok", "F#Q", "5#16.5") +
                           quad("3", "ok food", "food", "ok", "F#Q", "0.5#6");
  EXPECT_THAT(
      error_of([&] { parse(text); }),
      ::testing::AllOf(StartsWith("a.jsonl:2: VA is 5#16.5, but both go from 1 to 9 (2 such VA"),
                       HasSubstr("data.out_of_range=clip")));
  const SentenceFile clipped = parse(text, {.out_of_range = OutOfRange::clip});
  ASSERT_EQ(clipped.sentences.size(), 3u);
  EXPECT_EQ(clipped.sentences[1].tuples[0].va->arousal, 9);
  EXPECT_EQ(clipped.sentences[2].tuples[0].va->valence, 1);
  EXPECT_THAT(clipped.warnings,
              ElementsAre("a.jsonl: 2 VA are not from 1 to 9 and are set to the nearest values, "
                          "first: line 2 5#16.5"));
  const SentenceFile without = parse(text, {.out_of_range = OutOfRange::skip});
  ASSERT_EQ(without.sentences.size(), 1u);
  EXPECT_THAT(without.warnings,
              ElementsAre("a.jsonl: 2 sentences have a VA that is not from 1 to 9 and are left "
                          "out, first: line 2 5#16.5"));
  const SentenceFile kept = parse(text, {.out_of_range = OutOfRange::keep});
  EXPECT_EQ(kept.sentences[1].tuples[0].va->arousal, 16.5);
  EXPECT_THAT(kept.warnings, ElementsAre("a.jsonl: 2 VA are not from 1 to 9 and stay as they are, "
                                         "first: line 2 5#16.5"));
  EXPECT_THAT(error_of([&] {
                parse(quad("2", "ok", "NULL", "ok", "F#Q", "0#1"),
                      {.out_of_range = OutOfRange::skip});
              }),
              HasSubstr("each sentence has a VA that is not from 1 to 9"));
}

TEST(Reader, NamesTheTaskThatALineIsOf) {
  const std::string rated =
      R"({"ID": "1", "Text": "food", "Aspect_VA": [{"Aspect": "food", "VA": "5#6"}]})";
  for (const Task task : {Task::triplets, Task::quadruplets})
    EXPECT_THAT(error_of([&] { parse(rated, {.task = task}); }),
                ::testing::AllOf(HasSubstr("a.jsonl:1: there is no key"),
                                 HasSubstr("but \"Aspect_VA\""), HasSubstr("set task=1")));
  EXPECT_THAT(error_of([] { parse(R"({"ID": "1", "Text": "food", "Triplet": []})"); }),
              HasSubstr("set task=2"));
  EXPECT_THAT(error_of([&] { parse_predictions(rated, "p.jsonl", Task::triplets); }),
              HasSubstr("set task=1"));
}

TEST(Reader, SaysHowOtherFormsOfAVaAreWritten) {
  const auto refused = [](const std::string& va) {
    return error_of([&] {
      parse(R"({"ID": "1", "Text": "ok", "Triplet": [{"Aspect": "NULL", "Opinion": "ok", "VA": )" +
                va + "}]}",
            {.task = Task::triplets});
    });
  };
  for (const char* const va : {"[7.1, 6.5]", "\"7.1,6.5\"", "\"7,1#6,5\""})
    EXPECT_THAT(refused(va),
                ::testing::AllOf(StartsWith("a.jsonl:1: "), HasSubstr("write valence, #, arousal: "
                                                                      "\"7.10#6.50\"")))
        << va;
  EXPECT_THAT(refused("7.1"), HasSubstr("\"7.12#6.50\""));
  EXPECT_THAT(refused("[7.1, 66]"), HasSubstr("\"7.12#6.50\""));
}

TEST(Reader, SaysHowOtherFormsOfFilesAreConverted) {
  const auto refused = [](const std::string& text) { return error_of([&] { parse(text); }); };
  const std::string wide("{\0\"\0I\0D\0", 8);
  EXPECT_THAT(refused("\xFF\xFE" + wide), ::testing::AllOf(StartsWith("a.jsonl is text in UTF-16,"),
                                                           HasSubstr("iconv -f UTF-16 -t UTF-8")));
  EXPECT_THAT(refused(wide), StartsWith("a.jsonl is text in UTF-16LE,"));
  EXPECT_THAT(refused(std::string("\0\0\xFE\xFF\0\0\0{", 8)),
              StartsWith("a.jsonl is text in UTF-32,"));
  EXPECT_THAT(refused("PAR1\x15\4"), ::testing::AllOf(StartsWith("a.jsonl is a Parquet file,"),
                                                      HasSubstr("to_json(\"NEW.jsonl\"")));
  EXPECT_THAT(
      refused("[\n " + std::string(soup) + "]"),
      ::testing::AllOf(StartsWith("a.jsonl holds one JSON list"), HasSubstr("jq -c '.[]'")));
  EXPECT_THAT(refused("{\n \"ID\": \"1\"\n}\n"), HasSubstr("jq -c . FILE"));
  for (const char* const other :
       {"<?xml version=\"1.0\"?>\n<sentences>", "<sentences>\n",
        "the soup was good####[([1], [3], 'POS')]\n",
        "the soup was good####[['soup', 'food quality', 'positive', 'good']]\n",
        "the soup was good\t1,2 FOOD#QUALITY 2 3,4\n", "all bad\t-1,-1 FOOD#QUALITY 0 1,2\t"})
    EXPECT_THAT(
        refused(other),
        ::testing::AllOf(StartsWith("a.jsonl holds "), HasSubstr("no valence and arousal"),
                         HasSubstr("\"VA\": \"7.12#6.50\""), ::testing::Not(HasSubstr(",,"))))
        << other;
  EXPECT_EQ(parse(quad("1", "ok####[1]", "NULL", "ok", "F#Q", "5#5")).sentences.size(), 1u);
  EXPECT_THAT(refused("x\t1 2 3 4\n"), StartsWith("a.jsonl:1: the line is not JSON"));
}

TEST(Reader, RefusesAnIdThatComesTwiceAndEmptyOnes) {
  EXPECT_THAT(error_of([] { parse(std::string(soup) + "\n\n" + soup); }),
              StartsWith("a.jsonl:3: the ID \"a1\" comes twice, first in line 1"));
  EXPECT_THAT(error_of([] { parse(quad(" ", "x", "NULL", "x", "F#Q", "5#5")); }),
              HasSubstr("the ID is empty"));
}

TEST(Reader, RefusesEmptyTextsAndFiles) {
  EXPECT_THAT(error_of([] { parse(quad("1", "  ", "NULL", "NULL", "F#Q", "5#5")); }),
              StartsWith("a.jsonl:1: the text of \"1\" is empty"));
  EXPECT_THAT(error_of([] { parse("\n\n"); }), StartsWith("a.jsonl holds no sentence"));
}

TEST(Reader, CountsPhrasesThatAreNotInTheirTextsAndKeepsThemAsNull) {
  const SentenceFile file = parse(quad("1", "ok food", "foot", "bad", "F#Q", "5#5") +
                                  quad("2", "ok food", "fool", "OK", "F#Q", "5#5"));
  EXPECT_EQ(file.sentences[0].tuples[0].aspect, "NULL");
  EXPECT_EQ(file.sentences[0].tuples[0].opinion, "NULL");
  EXPECT_EQ(file.sentences[1].tuples[0].opinion, "OK");
  EXPECT_THAT(file.warnings,
              ElementsAre("a.jsonl: 2 aspects are not in their texts and count as NULL, first: "
                          "line 1 \"foot\"",
                          "a.jsonl: 1 opinion is not in its text and counts as NULL, first: line "
                          "1 \"bad\""));
}

TEST(Reader, RefusesPhrasesThatAreNotInTheirTextsByChoice) {
  const std::string text = quad("1", "ok food", "food", "ok", "F#Q", "5#5") +
                           quad("2", "ok food", "food", "bad", "F#Q", "5#5") +
                           quad("3", "ok food", "fool", "ok", "F#Q", "5#5");
  EXPECT_THAT(error_of([&] { parse(text, {.not_in_text = NotInText::refuse}); }),
              StartsWith("a.jsonl:2: the opinion \"bad\" is not in the text (2 such phrases"));
  const SentenceFile kept = parse(text, {.not_in_text = NotInText::keep});
  EXPECT_EQ(kept.sentences[1].tuples[0].opinion, "bad");
  EXPECT_THAT(kept.warnings,
              ElementsAre("a.jsonl: 1 aspect is not in its text, first: line 3 \"fool\"",
                          "a.jsonl: 1 opinion is not in its text, first: line 2 \"bad\""));
}

TEST(Reader, ComparesCategoriesWithTheListWithoutRegardToCase) {
  const ReadOptions options{.categories = {"FOOD#QUALITY", "FOOD#PRICES"}};
  const std::string good = quad("1", "ok food", "food", "ok", "food#quality", "5#5");
  EXPECT_EQ(parse(good, options).sentences[0].tuples[0].category, "FOOD#QUALITY");
  const std::string bad = good + quad("2", "ok food", "food", "ok", "FOOD#QUALITI", "5#5") +
                          quad("3", "ok food", "food", "ok", "SHOES", "5#5");
  EXPECT_THAT(error_of([&] { parse(bad, options); }),
              ::testing::AllOf(StartsWith("a.jsonl:2: the category \"FOOD#QUALITI\" is not in the "
                                          "list of 2 (2 lines have such ones)"),
                               HasSubstr("is FOOD#QUALITY meant?")));
  EXPECT_THAT(error_of([&] { parse(quad("1", "ok", "NULL", "ok", "", "5#5")); }),
              HasSubstr("a category is empty"));
}

TEST(Reader, KeepsUnknownCategoriesByChoiceAndCountsTheirLines) {
  const SentenceFile file = parse(quad("1", "ok food", "food", "ok", "SHOES", "5#5") +
                                      quad("2", "ok food", "food", "ok", "food#quality", "5#5"),
                                  {.categories = {"FOOD#QUALITY"}, .not_in_list = NotInList::keep});
  EXPECT_EQ(file.sentences[0].tuples[0].category, "SHOES");
  EXPECT_EQ(file.sentences[1].tuples[0].category, "FOOD#QUALITY");
  EXPECT_THAT(file.warnings, ElementsAre("a.jsonl: 1 line has a category that is not in the list, "
                                         "first: line 1 \"SHOES\""));
}

TEST(Reader, LooksForPhrasesInTextsOfSentencesAlone) {
  const std::string text(100'000, 'a');
  EXPECT_THAT(error_of([&] { parse(quad("1", text, "a", "a", "FOOD#QUALITY", "5#5"), {}); }),
              HasSubstr("a.jsonl:1: the text of \"1\" has 100000 bytes"));
  const std::string without = R"({"ID": "1", "Text": ")" + text + R"("})";
  EXPECT_EQ(parse(without, {.labelled = false}).sentences[0].text, text);
}

TEST(Reader, CountsTextsOfAnotherLanguage) {
  const std::string text = R"({"ID": "1", "Text": "ok food"})"
                           "\n"
                           R"({"ID": "2", "Text": "美味しい料理"})"
                           "\n"
                           R"({"ID": "3", "Text": "8/10 !!!"})";
  EXPECT_THAT(parse(text, {.labelled = false, .language = "eng"}).warnings,
              ElementsAre("a.jsonl: 1 text holds no letter of eng, first: line 2 "
                          "\"美味しい料理\""));
  EXPECT_THAT(parse(text, {.labelled = false, .language = "jpn"}).warnings.size(), 1u);
  EXPECT_TRUE(parse(text, {.labelled = false, .language = "xxx"}).warnings.empty());
}

TEST(Reader, ReadsPredictionsWithoutTextsAndOutOfRange) {
  const SentenceFile file = parse_predictions(
      R"({"ID": "1", "Triplet": [{"Aspect": "a", "Opinion": "b", "VA": "9.5#5"}]})"
      "\n"
      R"({"ID": "2", "Triplet": []})",
      "p.jsonl", Task::triplets);
  EXPECT_EQ(file.sentences[0].tuples[0].va->valence, 9.5);
  EXPECT_THAT(file.warnings, ElementsAre("p.jsonl: 1 predicted VA leaves 1 to 9, first: line 1"));
  EXPECT_THAT(error_of([] { parse_predictions(R"({"ID": "1"})", "p.jsonl", Task::triplets); }),
              HasSubstr("p.jsonl:1: there is no key \"Triplet\""));
}

}  // namespace
}  // namespace lockstep::dimabsa
