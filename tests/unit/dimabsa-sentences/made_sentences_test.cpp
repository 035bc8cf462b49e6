#include "recipes/dimabsa/sentences/made_sentences.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/text/text.h"
#include "recipes/dimabsa/sentences/files/reader.h"
#include "recipes/dimabsa/sentences/made_words.h"
#include "recipes/dimabsa/sentences/phrase.h"
#include "recipes/dimabsa/sentences/scores/tuple_key.h"
#include "recipes/dimabsa/sentences/scores/va.h"

namespace lockstep::dimabsa {
namespace {

constexpr std::int64_t many = 1000;

TEST(MadeSentences, FollowFromSeedAndPlaceAlone) {
  const auto all = made_sentences(many, 3), few = made_sentences(10, 3),
             other = made_sentences(10, 4);
  int different = 0;
  for (std::size_t i = 0; i < few.size(); ++i) {
    EXPECT_EQ(few[i].text, all[i].text);
    different += few[i].text != other[i].text ? 1 : 0;
  }
  EXPECT_GE(different, 8);
  EXPECT_EQ(few[0].id, "made_1");
}

TEST(MadeSentences, HaveZeroToFiveTuplesAndSomeNull) {
  std::map<std::size_t, int> counts;
  int null_aspects = 0, null_opinions = 0;
  std::size_t all = 0;
  for (const Sentence& sentence : made_sentences(many, 1)) {
    ++counts[sentence.tuples.size()];
    all += sentence.tuples.size();
    for (const Tuple& tuple : sentence.tuples) {
      null_aspects += tuple.aspect == null_phrase ? 1 : 0;
      null_opinions += tuple.opinion == null_phrase ? 1 : 0;
    }
  }
  ASSERT_EQ(counts.size(), 6u);
  EXPECT_EQ(counts.rbegin()->first, 5u);
  for (const auto& [tuples, sentences] : counts) EXPECT_GE(sentences, 20) << tuples;
  EXPECT_NEAR(static_cast<double>(all) / many, 1.6, 0.05);
  EXPECT_GE(null_aspects, 50);
  EXPECT_GE(null_opinions, 50);
}

TEST(MadeSentences, HoldEachPhraseOnce) {
  for (const Sentence& sentence : made_sentences(many, 1))
    for (const Tuple& tuple : sentence.tuples)
      for (const std::string& phrase : {tuple.aspect, tuple.opinion}) {
        if (phrase == null_phrase) continue;
        const auto range = find_phrase(sentence.text, phrase);
        ASSERT_TRUE(range) << phrase << " in " << sentence.text;
        EXPECT_EQ(range->of(sentence.text), phrase) << sentence.text;
        EXPECT_EQ(sentence.text.find(phrase, range->end), std::string::npos)
            << phrase << " in " << sentence.text;
      }
}

TEST(MadeSentences, HaveNoTupleTwice) {
  for (const Sentence& sentence : made_sentences(many, 1)) {
    std::set<TupleKey> keys;
    for (const Tuple& tuple : sentence.tuples)
      EXPECT_TRUE(keys.insert(key_of(Task::triplets, tuple)).second) << sentence.text;
  }
}

TEST(MadeSentences, AreReadAsTheyAreMade) {
  const auto categories = made_categories();
  for (const Sentence& sentence : made_sentences(many, 2)) {
    for (const Tuple& tuple : sentence.tuples) {
      EXPECT_TRUE(in_range(*tuple.va));
      EXPECT_TRUE(std::find(categories.begin(), categories.end(), tuple.category) !=
                  categories.end())
          << tuple.category;
    }
  }
}

TEST(MadeSentences, HaveTheVaOfTheRule) {
  std::map<std::string, ValenceArousal> seen;
  for (const Sentence& sentence : made_sentences(many, 1))
    for (const Tuple& tuple : sentence.tuples) {
      if (tuple.opinion == null_phrase) continue;
      const auto [at, is_new] = seen.emplace(lockstep::trim(tuple.opinion), *tuple.va);
      EXPECT_EQ(at->second.valence, tuple.va->valence) << tuple.opinion;
      EXPECT_EQ(at->second.arousal, tuple.va->arousal) << tuple.opinion;
    }
  ASSERT_TRUE(seen.contains("great") && seen.contains("very great") && seen.contains("not great") &&
              seen.contains("a bit great"));
  EXPECT_DOUBLE_EQ(seen["great"].valence, 7.8);
  EXPECT_DOUBLE_EQ(seen["very great"].valence, 8.64);
  EXPECT_DOUBLE_EQ(seen["very great"].arousal, 7.8);
  EXPECT_DOUBLE_EQ(seen["not great"].valence, 3.32);
  EXPECT_DOUBLE_EQ(seen["not great"].arousal, 6.8);
  EXPECT_DOUBLE_EQ(seen["a bit great"].valence, 6.4);
  EXPECT_DOUBLE_EQ(seen["a bit great"].arousal, 5.8);
}

TEST(MadeSentences, HaveTheCategoryOfTheRule) {
  std::map<std::string, std::string> entity, attribute;
  std::set<std::string> money;
  for (const MadeNoun& noun : made_nouns()) {
    entity[noun.word] = noun.entity;
    attribute[noun.word] = noun.attribute;
  }
  for (const MadeAdjective& adjective : made_adjectives())
    if (adjective.about_money) money.insert(adjective.word);
  for (const Sentence& sentence : made_sentences(many, 1))
    for (const Tuple& tuple : sentence.tuples) {
      const bool priced = money.contains(tuple.opinion.substr(tuple.opinion.rfind(' ') + 1));
      const std::string expected =
          tuple.aspect == null_phrase
              ? std::string("RESTAURANT#") + (priced ? "PRICES" : "GENERAL")
              : entity[tuple.aspect] + "#" + (priced ? "PRICES" : attribute[tuple.aspect]);
      EXPECT_EQ(tuple.category, expected) << sentence.text;
    }
}

TEST(MadeSentences, OfTheOtherTasksHaveLess) {
  const auto triplets = made_sentences(50, 1, Task::triplets);
  const auto aspects = made_sentences(50, 1, Task::aspects);
  for (std::size_t i = 0; i < triplets.size(); ++i) {
    for (const Tuple& tuple : triplets[i].tuples) EXPECT_EQ(tuple.category, "");
    std::set<std::string> seen;
    for (const Tuple& tuple : aspects[i].tuples) {
      EXPECT_EQ(tuple.opinion, "");
      EXPECT_TRUE(seen.insert(tuple.aspect).second);
    }
  }
}

TEST(MadeSentences, UseFewWords) {
  std::set<std::string> words;
  for (const Sentence& sentence : made_sentences(many, 1))
    for (const std::string& word : split(sentence.text, ' ')) words.insert(word);
  EXPECT_LT(words.size(), 500u);  // with commas and full stops at them
  EXPECT_GT(words.size(), 100u);
}

}  // namespace
}  // namespace lockstep::dimabsa
