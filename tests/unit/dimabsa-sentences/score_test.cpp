#include "recipes/dimabsa/sentences/scores/score.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/fakes/error_of.h"

namespace lockstep::dimabsa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const double largest = std::sqrt(128.0);

Tuple triplet(const char* aspect, const char* opinion, double valence = 5, double arousal = 5) {
  return {.aspect = aspect, .opinion = opinion, .va = ValenceArousal{valence, arousal}};
}

Tuple quadruplet(const char* aspect, const char* opinion, const char* category) {
  Tuple tuple = triplet(aspect, opinion);
  tuple.category = category;
  return tuple;
}

Sentence sentence(const char* id, std::vector<Tuple> tuples) {
  return {.id = id, .text = "", .tuples = std::move(tuples)};
}

TEST(ContinuousF1, OfTheGoldItselfIsOne) {
  const std::vector<Sentence> gold{sentence("1", {triplet("soup", "good"), triplet("a", "b")})};
  const Scores scores = score(Task::triplets, gold, gold);
  EXPECT_EQ(scores.tuples.matched, 2);
  EXPECT_EQ(scores.tuples.c_precision(), 1);
  EXPECT_EQ(scores.tuples.c_recall(), 1);
  EXPECT_EQ(scores.tuples.c_f1(), 1);
  EXPECT_EQ(scores.tuples.f1(), 1);
}

TEST(ContinuousF1, GivesCreditByTheDistanceOfVa) {
  const auto one =
      score_sentence(Task::triplets, {triplet("a", "b", 7, 6)}, {triplet("a", "b", 4, 2)});
  EXPECT_EQ(one.tuples.matched, 1);
  EXPECT_DOUBLE_EQ(one.tuples.credit, 1 - 5 / largest);
  ASSERT_EQ(one.matches.size(), 1u);
  EXPECT_DOUBLE_EQ(one.matches[0].distance, 5);
}

TEST(ContinuousF1, OfOppositeCornersIsNothing) {
  const auto one =
      score_sentence(Task::triplets, {triplet("a", "b", 1, 1)}, {triplet("a", "b", 9, 9)});
  EXPECT_EQ(one.tuples.matched, 1);
  EXPECT_EQ(one.tuples.credit, 0);
}

TEST(ContinuousF1, GivesNoCreditWhereAPredictedValueLeavesTheRange) {
  for (const auto& [valence, arousal] :
       std::vector<std::pair<double, double>>{{0.99, 5}, {9.01, 5}, {5, 0.99}, {5, 9.01}}) {
    const auto one = score_sentence(Task::triplets, {triplet("a", "b", 5, 5)},
                                    {triplet("a", "b", valence, arousal)});
    EXPECT_EQ(one.tuples.credit, 0);
    EXPECT_EQ(one.tuples.matched, 1);  // neither missed nor spurious
  }
  EXPECT_GT(
      score_sentence(Task::triplets, {triplet("a", "b")}, {triplet("a", "b", 1, 9)}).tuples.credit,
      0);
}

TEST(ContinuousF1, DividesByAllThatWasPredictedAndByAllOfGold) {
  const auto one =
      score_sentence(Task::triplets, {triplet("a", "b"), triplet("c", "d")},
                     {triplet("a", "b"), triplet("x", "y"), triplet("x", "z"), triplet("a", "d")});
  EXPECT_DOUBLE_EQ(one.tuples.c_precision(), 0.25);
  EXPECT_DOUBLE_EQ(one.tuples.c_recall(), 0.5);
  EXPECT_DOUBLE_EQ(one.tuples.c_f1(), 2 * 0.25 * 0.5 / 0.75);
}

TEST(ContinuousF1, ComparesLowerCased) {
  const auto one = score_sentence(Task::quadruplets, {quadruplet("Soup", "GREAT", "FOOD#QUALITY")},
                                  {quadruplet("soup", "great", "food#quality")});
  EXPECT_EQ(one.tuples.matched, 1);
  EXPECT_EQ(
      score_sentence(Task::triplets, {triplet("Été", "Ж")}, {triplet("été", "ж")}).tuples.matched,
      1);
}

TEST(ContinuousF1, ComparesTheCategoryInTask3Alone) {
  const std::vector<Tuple> gold{quadruplet("a", "b", "X")}, other{quadruplet("a", "b", "Y")};
  EXPECT_EQ(score_sentence(Task::quadruplets, gold, other).tuples.matched, 0);
  EXPECT_EQ(score_sentence(Task::triplets, gold, other).tuples.matched, 1);
}

TEST(ContinuousF1, DoesNotComparePhrasesThatOnlyOverlap) {
  EXPECT_EQ(score_sentence(Task::triplets, {triplet("the soup", "good")}, {triplet("soup", "good")})
                .tuples.matched,
            0);
}

TEST(ContinuousF1, MissesAGoldTupleThatTwoPredictionsMatch) {
  const auto one = score_sentence(Task::triplets, {triplet("a", "b"), triplet("c", "d")},
                                  {triplet("a", "b"), triplet("A", "b", 4, 4), triplet("c", "d")});
  EXPECT_EQ(one.tuples.matched, 1);
  EXPECT_EQ(one.tuples.credit, 1);
  EXPECT_DOUBLE_EQ(one.tuples.c_precision(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(one.tuples.c_recall(), 0.5);
  // One of the two out of range makes no difference.
  EXPECT_EQ(score_sentence(Task::triplets, {triplet("a", "b")},
                           {triplet("a", "b"), triplet("a", "b", 10, 5)})
                .tuples.matched,
            0);
}

TEST(ContinuousF1, LetsOnePredictionMatchTwoGoldTuplesOfItsKey) {
  const auto one = score_sentence(Task::triplets, {triplet("a", "b"), triplet("a", "b", 9, 9)},
                                  {triplet("a", "b")});
  EXPECT_EQ(one.tuples.matched, 2);
  EXPECT_EQ(one.tuples.predicted, 1);
  EXPECT_DOUBLE_EQ(one.tuples.credit, 2 - 4 * std::sqrt(2.0) / largest);
}

TEST(ContinuousF1, MatchesWithinOneIdAlone) {
  const std::vector<Sentence> gold{sentence("1", {triplet("a", "b")}), sentence("2", {})};
  const std::vector<Sentence> predicted{sentence("1", {}), sentence("2", {triplet("a", "b")})};
  EXPECT_EQ(score(Task::triplets, gold, predicted).tuples.matched, 0);
}

TEST(ContinuousF1, CountsMissingIdsAsMissedAndUnknownOnesAsSpurious) {
  const std::vector<Sentence> gold{sentence("1", {triplet("a", "b")}),
                                   sentence("2", {triplet("c", "d")})};
  const std::vector<Sentence> predicted{sentence("9", {triplet("c", "d"), triplet("e", "f")}),
                                        sentence("1", {triplet("a", "b")})};
  const Scores scores = score(Task::triplets, gold, predicted);
  EXPECT_EQ(scores.tuples.gold, 2);
  EXPECT_EQ(scores.tuples.predicted, 3);
  EXPECT_DOUBLE_EQ(scores.tuples.c_precision(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(scores.tuples.c_recall(), 0.5);
  const Aligned aligned = align(gold, predicted);
  EXPECT_THAT(aligned.missing, ElementsAre("2"));
  EXPECT_THAT(aligned.unknown, ElementsAre("9"));
}

TEST(ContinuousF1, OfNothingIsZero) {
  const Scores none = score(Task::triplets, {sentence("1", {})}, {sentence("1", {})});
  EXPECT_EQ(none.tuples.c_f1(), 0);
  EXPECT_EQ(none.tuples.f1(), 0);
  const Scores missed =
      score(Task::triplets, {sentence("1", {triplet("a", "b")})}, {sentence("1", {})});
  EXPECT_EQ(missed.tuples.c_precision(), 0);
  EXPECT_EQ(missed.tuples.c_recall(), 0);
}

TEST(PlainF1, CountsDifferentTuplesWhateverTheirVa) {
  const auto one = score_sentence(
      Task::triplets, {triplet("a", "b"), triplet("c", "d"), triplet("e", "f")},
      {triplet("a", "b", 9, 9), triplet("A", "b", 10, 5), triplet("c", "d"), triplet("x", "y")});
  EXPECT_DOUBLE_EQ(one.tuples.precision(), 2.0 / 3);  // a b twice is one
  EXPECT_DOUBLE_EQ(one.tuples.recall(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(one.tuples.f1(), 2.0 / 3);
}

Tuple aspect(const char* name, double valence, double arousal) {
  return {.aspect = name, .va = ValenceArousal{valence, arousal}};
}

TEST(Rmse, IsOfTheDistancesOverAllAspects) {
  const std::vector<Sentence> gold{sentence("1", {aspect("a", 5, 5), aspect("b", 2, 3)}),
                                   sentence("2", {aspect("a", 8, 7)})};
  const std::vector<Sentence> predicted{sentence("2", {aspect("a", 8, 6)}),
                                        sentence("1", {aspect("b", 2, 3), aspect("A", 8, 9)})};
  const Scores scores = score(Task::aspects, gold, predicted);
  EXPECT_EQ(scores.va.count, 3);
  EXPECT_DOUBLE_EQ(scores.va.rmse(), std::sqrt((9 + 16 + 0 + 1) / 3.0));
  EXPECT_DOUBLE_EQ(scores.va.rmse(true), std::sqrt((9 + 16 + 0 + 1) / 3.0) / largest);
}

TEST(Rmse, TakesTheLastOfTwoPredictionsForAnAspectAndWhatLeavesTheRange) {
  const auto one =
      score_sentence(Task::aspects, {aspect("a", 5, 5)}, {aspect("a", 1, 1), aspect("a", 5, 11)});
  EXPECT_DOUBLE_EQ(one.va.rmse(), 6);
}

TEST(Rmse, OfAConstantIsThatOfAModelThatLearntNothing) {
  const auto score = score_sentence(Task::aspects, {aspect("a", 5, 5), aspect("b", 2, 9)},
                                    {aspect("a", 1, 1), aspect("b", 9, 9)});
  EXPECT_NEAR(score.va.rmse_of_constant({4, 6}), std::sqrt((1 + 1 + 4 + 9) / 2.0), 1e-12);
  EXPECT_TRUE(std::isnan(VaSums().rmse_of_constant({5, 5})));
}

TEST(Rmse, NeedsAPredictionForEachAspect) {
  EXPECT_THAT(error_of([] {
                (void)score(Task::aspects,
                            {sentence("1", {aspect("a", 5, 5), aspect("b", 5, 5)}),
                             sentence("2", {aspect("c", 5, 5)})},
                            {sentence("1", {aspect("a", 5, 5)})});
              }),
              HasSubstr("2 of 3 aspects have no prediction, first: \"b\" of 1"));
}

TEST(Pearson, IsOfValenceAndOfArousal) {
  VaSums sums;
  sums.add({1, 1}, {2, 9});
  sums.add({2, 2}, {4, 8});
  sums.add({3, 3}, {6, 7});
  EXPECT_NEAR(sums.pearson_valence(), 1, 1e-12);
  EXPECT_NEAR(sums.pearson_arousal(), -1, 1e-12);
  sums.add({4, 9}, {5, 9});
  EXPECT_NEAR(sums.pearson_valence(), 5.5 / std::sqrt(5 * 8.75), 1e-12);
}

TEST(Pearson, OfConstantsAndOfOnePairIsUnknown) {
  VaSums sums;
  EXPECT_TRUE(std::isnan(sums.rmse()));
  sums.add({1, 1}, {2, 9});
  EXPECT_TRUE(std::isnan(sums.pearson_valence()));
  sums.add({2, 1}, {2, 9});
  EXPECT_TRUE(std::isnan(sums.pearson_valence()));
  EXPECT_TRUE(std::isnan(sums.pearson_arousal()));
}

TEST(Sums, AddUpInAnyGrouping) {
  const std::vector<Tuple> gold{triplet("a", "b", 3, 4)}, predicted{triplet("a", "b", 4, 4)};
  SentenceScore one = score_sentence(Task::triplets, gold, predicted);
  TupleSums twice = one.tuples;
  twice += one.tuples;
  EXPECT_EQ(twice.gold, 2);
  EXPECT_DOUBLE_EQ(twice.c_f1(), one.tuples.c_f1());
  VaSums va = one.va;
  va += one.va;
  EXPECT_EQ(va.count, 2);
  EXPECT_DOUBLE_EQ(va.rmse(), 1);
}

TEST(InOrder, IgnoresIds) {
  const std::vector<Sentence> gold{sentence("1", {triplet("a", "b")})},
      predicted{sentence("", {triplet("a", "b")})};
  const Scores scores = score_in_order(Task::triplets, gold, predicted);
  EXPECT_EQ(scores.sentences, 1);
  EXPECT_EQ(scores.tuples.c_f1(), 1);
}

}  // namespace
}  // namespace lockstep::dimabsa
