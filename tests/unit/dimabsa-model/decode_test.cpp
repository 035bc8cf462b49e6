// The rules of decoding, each on probabilities made by hand.
#include "recipes/dimabsa/model/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::dimabsa {
namespace {

const DecodeOptions usual{.threshold = 0.5, .beta = 0.9, .most = 32, .longest_span = 3};

std::vector<PieceSpan> spans_of(const std::vector<FoundSpan>& found) {
  std::vector<PieceSpan> spans;
  for (const FoundSpan& one : found) spans.push_back(one.span);
  return spans;
}

std::vector<FoundSpan> find(const std::vector<double>& start, const std::vector<double>& end,
                            const DecodeOptions& options = usual, std::int64_t nulls = 1) {
  return find_spans(start, end, nulls, options);
}

using Spans = std::vector<PieceSpan>;

TEST(FindSpans, TakesOnlyTokensThatAreMoreLikelyThanNot) {
  // null, then pieces 0 to 3.
  const auto found = find({0.1, 0.9, 0.5, 0.2, 0.8}, {0.1, 0.8, 0.9, 0.4, 0.5});
  EXPECT_EQ(spans_of(found), (Spans{{0, 0}, {0, 1}}));  // 0.5 is not above 0.5
  EXPECT_DOUBLE_EQ(found[0].probability, std::sqrt(0.9 * 0.8));
}

TEST(FindSpans, PairsAnEndWithTheMostProbableStartBeforeIt) {
  EXPECT_EQ(spans_of(find({0, 0.7, 0.9, 0.6, 0}, {0, 0, 0, 0.9, 0})), (Spans{{1, 2}}));
  // Starts behind an end do not count, nor does an end without a start.
  EXPECT_EQ(spans_of(find({0, 0, 0, 0.9, 0.9}, {0, 0.9, 0, 0, 0})), Spans{});
}

// "soup and wine": the end of the second takes the first's start only where it has none of its own.
TEST(FindSpans, ReachOverTheEndOfAnotherOnlyWithoutAStartOfTheirOwn) {
  const std::vector<double> start{0, 0.99, 0, 0.9, 0}, end{0, 0.9, 0, 0.9, 0};
  EXPECT_EQ(spans_of(find(start, end)), (Spans{{0, 0}, {2, 2}}));
  DecodeOptions original = usual;
  original.apart = false;
  EXPECT_EQ(spans_of(find(start, end, original)), (Spans{{0, 0}, {0, 2}}));
  EXPECT_EQ(spans_of(find({0, 0.9, 0, 0, 0}, end)), (Spans{{0, 0}, {0, 2}}));
}

TEST(FindSpans, TakesTheNearestOfEqualStarts) {
  EXPECT_EQ(spans_of(find({0, 0.9, 0.9, 0, 0}, {0, 0, 0, 0.9, 0})), (Spans{{1, 2}}));
}

TEST(FindSpans, MakesNoSpanLongerThanThoseOfTheTrainingData) {
  EXPECT_EQ(spans_of(find({0, 0.9, 0.6, 0, 0}, {0, 0, 0, 0, 0.9})), (Spans{{1, 3}}));
  EXPECT_EQ(spans_of(find({0, 0.9, 0, 0, 0}, {0, 0, 0, 0, 0.9})), Spans{});
}

TEST(FindSpans, TakesNullAsAllOfItsTokensAndNeverAsPartOfASpan) {
  EXPECT_EQ(spans_of(find({0.9, 0, 0}, {0.8, 0, 0})), (Spans{{-1, -1}}));
  EXPECT_EQ(spans_of(find({0.9, 0, 0}, {0, 0.8, 0})), Spans{});  // from null into the text
  EXPECT_EQ(spans_of(find({0.9, 0, 0}, {0, 0.8, 0}, usual, 2)), (Spans{{-1, -1}}));
}

TEST(FindSpans, KeepsTheMostProbableOnes) {
  DecodeOptions few = usual;
  few.most = 2;
  few.longest_span = 1;
  EXPECT_EQ(spans_of(find({0, 0.9, 0.6, 0.8}, {0, 0.9, 0.6, 0.8}, few)), (Spans{{0, 0}, {2, 2}}));
}

const PieceSpan soup{0, 0}, good{2, 3}, null{};

TEST(Pairs, HaveTheRootOfBothProbabilitiesInEitherDirection) {
  const auto forward = pairs_of({{soup, 0.9}}, {{{good, 0.4}, {null, 0.1}}}, true);
  ASSERT_EQ(forward.size(), 2U);
  EXPECT_EQ(forward[0].aspect, soup);
  EXPECT_EQ(forward[0].opinion, good);
  EXPECT_DOUBLE_EQ(forward[0].probability, std::sqrt(0.9 * 0.4));
  const auto backward = pairs_of({{good, 0.9}}, {{{soup, 0.4}}}, false);
  EXPECT_EQ(backward.at(0).aspect, soup);
  EXPECT_EQ(backward.at(0).opinion, good);
}

TEST(Pairs, ThatBothDirectionsFindAreKeptWithTheLargerProbability) {
  const auto kept = keep_pairs({{soup, good, 0.6}}, {{soup, good, 0.7}}, usual);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_DOUBLE_EQ(kept[0].probability, 0.7);
}

TEST(Pairs, ThatOneDirectionFindsNeedBeta) {
  EXPECT_EQ(keep_pairs({{soup, good, 0.89}}, {}, usual).size(), 0U);
  EXPECT_EQ(keep_pairs({{soup, good, 0.9}}, {}, usual).size(), 1U);
  EXPECT_EQ(keep_pairs({}, {{soup, good, 0.95}}, usual).size(), 1U);
  // The same aspect with another opinion is another pair.
  EXPECT_EQ(keep_pairs({{soup, good, 0.8}}, {{soup, null, 0.8}}, usual).size(), 0U);
}

TEST(Pairs, ComeOnceAndAtMostSoMany) {
  DecodeOptions few = usual;
  few.most = 1;
  EXPECT_EQ(keep_pairs({{soup, good, 0.91}, {soup, good, 0.95}}, {}, usual).size(), 1U);
  const auto kept = keep_pairs({{soup, good, 0.91}, {soup, null, 0.95}}, {}, few);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].opinion, null);
}

}  // namespace
}  // namespace lockstep::dimabsa
