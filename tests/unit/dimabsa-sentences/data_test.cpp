// What comes along to try the recipe with.
#include <gtest/gtest.h>

#include <set>

#include "checkout_paths.h"
#include "recipes/dimabsa/sentences/categories.h"
#include "recipes/dimabsa/sentences/files/reader.h"

namespace lockstep::dimabsa {
namespace {

const std::filesystem::path data = LOCKSTEP_SOURCE_DIR "/recipes/dimabsa/data";

TEST(FortySentences, AreReadWithoutAWarning) {
  const auto categories = read_categories(data / "restaurant_categories.txt");
  EXPECT_EQ(categories.size(), 30u);
  const SentenceFile file = read_sentences(
      data / "forty_sentences.jsonl",
      {.categories = categories, .not_in_text = NotInText::refuse, .language = "eng"});
  EXPECT_TRUE(file.warnings.empty());
  EXPECT_EQ(file.sentences.size(), 40u);
}

TEST(FortySentences, HoldWhatIsHard) {
  std::size_t most = 0;
  int null_aspects = 0, null_opinions = 0, null_both = 0;
  std::set<std::string> categories;
  bool quotes = false;
  for (const Sentence& sentence : read_sentences(data / "forty_sentences.jsonl", {}).sentences) {
    most = std::max(most, sentence.tuples.size());
    quotes = quotes || sentence.text.find("“") != std::string::npos;
    for (const Tuple& tuple : sentence.tuples) {
      const bool aspect = tuple.aspect == null_phrase, opinion = tuple.opinion == null_phrase;
      null_aspects += aspect ? 1 : 0;
      null_opinions += opinion ? 1 : 0;
      null_both += aspect && opinion ? 1 : 0;
      categories.insert(tuple.category);
    }
  }
  EXPECT_EQ(most, 8u);
  EXPECT_GE(null_aspects, 8);
  EXPECT_GE(null_opinions, 3);
  EXPECT_GE(null_both, 1);
  EXPECT_GE(categories.size(), 10u);
  EXPECT_TRUE(quotes);
}

}  // namespace
}  // namespace lockstep::dimabsa
