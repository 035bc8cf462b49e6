// What the encoder reads, and what the loss compares it with.
#include "recipes/dimabsa/model/texts.h"

#include <ATen/core/Tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recipes/dimabsa/model/batch.h"
#include "recipes/dimabsa/model/dataset.h"
#include "recipes/dimabsa/model/loss.h"

namespace lockstep::dimabsa {
namespace {

using Ids = std::vector<std::int64_t>;

// [CLS] 1, [SEP] 2, [PAD] 0, "null" 9; a query's own words are 20 and up.
EncodedQueries queries() {
  EncodedQueries queries{.tokens = {}, .null = {9}, .cls = 1, .sep = 2, .pad = 0};
  queries.tokens = {Ids{20},
                    Ids{21},
                    Ids{22, aspect_place, 23},
                    Ids{24, opinion_place, 23},
                    Ids{25, aspect_place, opinion_place},
                    Ids{26, aspect_place, opinion_place},
                    Ids{27, aspect_place, opinion_place}};
  return queries;
}

// Pieces 101 … 106; two tuples: (101 102, 104) and (NULL, 106).
EncodedSentence sentence() {
  EncodedSentence encoded;
  encoded.sentence.tuples = {{"a b", "d", "X#Y", ValenceArousal{7, 6}},
                             {"NULL", "f", "X#Z", ValenceArousal{2, 3}}};
  for (std::int64_t i = 0; i < 6; ++i) {
    encoded.ids.push_back(101 + i);
    encoded.begins.push_back(2 * i);
    encoded.ends.push_back(2 * i + 1);
  }
  encoded.tuples = {{.aspect = {0, 1}, .opinion = {3, 3}, .category = 1},
                    {.aspect = {}, .opinion = {5, 5}, .category = 0}};
  return encoded;
}

TEST(Texts, AreQueryNullAndPieces) {
  const TextTokens text =
      make_text(queries(), sentence(), {.pass = Pass::aspects, .aspect = {}, .opinion = {}}, 99);
  EXPECT_EQ(text.tokens, (Ids{1, 20, 2, 9, 101, 102, 103, 104, 105, 106}));
  EXPECT_EQ(text.positions, (Ids{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(text.answer, 3);
  EXPECT_EQ(tokens_of(text, {0, 1}), (PieceSpan{4, 5}));
  EXPECT_EQ(tokens_of(text, {}), (PieceSpan{3, 3}));
}

TEST(Texts, NameThePhrasesOfTheirTuple) {
  const EncodedSentence of = sentence();
  const auto tokens = [&](Pass pass, std::size_t tuple) {
    return make_text(queries(), of, question_of(pass, of.tuples, tuple), 99).tokens;
  };
  EXPECT_THAT(tokens(Pass::opinion_of, 0),
              ::testing::ElementsAre(1, 22, 101, 102, 23, 2, 9, 101, 102, 103, 104, 105, 106));
  EXPECT_THAT(tokens(Pass::aspect_of, 1),
              ::testing::ElementsAre(1, 24, 106, 23, 2, 9, 101, 102, 103, 104, 105, 106));
  EXPECT_THAT(tokens(Pass::valence, 1),
              ::testing::ElementsAre(1, 26, 9, 106, 2, 9, 101, 102, 103, 104, 105, 106));
}

// Masked tokens are left out, and the others keep their places.
TEST(Texts, OfACategoryLackTheSpansOfOtherTuples) {
  const EncodedSentence of = sentence();
  const TextTokens first = make_text(queries(), of, question_of(Pass::category, of.tuples, 0), 99);
  EXPECT_EQ(first.tokens, (Ids{1, 25, 101, 102, 104, 2, 9, 101, 102, 103, 104, 105}));
  const TextTokens second = make_text(queries(), of, question_of(Pass::category, of.tuples, 1), 99);
  EXPECT_EQ(second.tokens, (Ids{1, 25, 9, 106, 2, 9, 103, 105, 106}));
  EXPECT_EQ(second.positions, (Ids{0, 1, 2, 3, 4, 5, 8, 10, 11}));
}

TEST(Texts, AreNeverLongerThanTheModelTakes) {
  const TextTokens text =
      make_text(queries(), sentence(), {.pass = Pass::aspects, .aspect = {}, .opinion = {}}, 7);
  EXPECT_EQ(text.tokens, (Ids{1, 20, 2, 9, 101, 102, 103}));
}

class Samples : public ::testing::Test {
 protected:
  Samples()
      : data(std::make_shared<std::vector<EncodedSentence>>(
                 std::vector<EncodedSentence>{sentence(), {}}),
             {.task = Task::quadruplets, .queries = queries(), .longest = 99}) {}
  std::vector<at::Tensor> row(std::int64_t index, Pass pass, bool padding = false) const {
    std::vector<SampleContext> contexts{{.padding = padding,
                                         .random = Random(1, RandomStream::augment, 0, 0),
                                         .part = static_cast<std::int64_t>(pass)}};
    return data.batch({index}, contexts);
  }
  TrainingSentences data;
};

template <class T>
std::vector<T> values_of(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.contiguous();
  return {dense.const_data_ptr<T>(), dense.const_data_ptr<T>() + dense.numel()};
}

TEST_F(Samples, HaveARowForEachPassWithATextForEachTuple) {
  EXPECT_EQ(data.rows_per_sample(), 7);
  const auto fields = row(0, Pass::opinion_of);
  const Ids offsets = values_of<std::int64_t>(field(fields, Field::offsets));
  EXPECT_THAT(Ids(offsets.begin(), offsets.begin() + 6),
              ::testing::ElementsAre(0, 13, 25, 57, 64, 64))
      << "padding is texts of at most the longest length";
  EXPECT_THAT(values_of<std::int64_t>(field(fields, Field::row_offsets)),
              ::testing::ElementsAre(0, 25));
  EXPECT_EQ(pass_weights(fields, passes_of(Task::quadruplets)),
            (std::vector<double>{0, 0, 1, 0, 0, 0, 0}));
}

TEST_F(Samples, MarkAllSpansOfTheFirstPassesAndOneOfEachTuple) {
  const auto marked = [&](Pass pass, int side) {
    Ids places;
    const at::Tensor targets = field(row(0, pass), Field::span_targets).select(1, side);
    for (std::int64_t i = 0; i < targets.size(0); ++i)
      if (targets[i].item<std::int64_t>() == 1) places.push_back(i);
    return places;
  };
  // [CLS] 20 [SEP] null at 3, pieces from 4.
  EXPECT_THAT(marked(Pass::aspects, 0), ::testing::ElementsAre(3, 4));
  EXPECT_THAT(marked(Pass::aspects, 1), ::testing::ElementsAre(3, 5));
  EXPECT_THAT(marked(Pass::opinions, 0), ::testing::ElementsAre(7, 9));
  // Texts of 13 and 12 tokens; null at 6, and at 13 + 5.
  EXPECT_THAT(marked(Pass::opinion_of, 0), ::testing::ElementsAre(6 + 1 + 3, 13 + 5 + 1 + 5));
  EXPECT_THAT(marked(Pass::aspect_of, 1), ::testing::ElementsAre(5 + 1 + 1, 12 + 5));
}

// Classes weigh 1 and 3, starts and ends a half each, tuples one share each; the query nothing.
TEST_F(Samples, WeighTokensAsTheLossSays) {
  const at::Tensor all = field(row(0, Pass::aspects), Field::span_weights).select(1, 0);
  const std::vector<float> weights = values_of<float>(all);
  EXPECT_THAT(std::vector<float>(weights.begin(), weights.begin() + 11),
              ::testing::ElementsAre(0, 0, 0, 1.5, 1.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0));
  const std::vector<float> tuples =
      values_of<float>(field(row(0, Pass::aspect_of), Field::span_weights).select(1, 0));
  EXPECT_FLOAT_EQ(tuples[4], 0);  // [SEP]
  EXPECT_FLOAT_EQ(tuples[5], 0.25F);
  EXPECT_FLOAT_EQ(tuples[6], 0.75F);
}

TEST_F(Samples, AskForCategoryValenceAndArousal) {
  const auto category = row(0, Pass::category);
  EXPECT_THAT(values_of<std::int64_t>(field(category, Field::categories).slice(0, 0, 3)),
              ::testing::ElementsAre(1, 0, 0));
  EXPECT_THAT(values_of<float>(field(category, Field::text_weights).slice(0, 0, 3)),
              ::testing::ElementsAre(0.5F, 0.5F, 0.0F));
  EXPECT_THAT(values_of<float>(field(row(0, Pass::arousal), Field::values).slice(0, 0, 2)),
              ::testing::ElementsAre(6.0F, 3.0F));
  EXPECT_FLOAT_EQ(field(row(0, Pass::valence), Field::text_weights)[0].item<float>(), 0.1F);
}

TEST_F(Samples, WithoutTuplesOrOfPaddingAreRowsWithoutTexts) {
  for (const auto& fields : {row(1, Pass::valence), row(0, Pass::aspects, /*padding=*/true)}) {
    EXPECT_THAT(values_of<std::int64_t>(field(fields, Field::row_offsets)),
                ::testing::ElementsAre(0, 0));
    EXPECT_EQ(field(fields, Field::span_weights).sum().item<float>(), 0);
    EXPECT_EQ(field(fields, Field::text_weights).sum().item<float>(), 0);
  }
  EXPECT_EQ(pass_weights(row(1, Pass::valence), {Pass::valence}), std::vector<double>{1});
  EXPECT_EQ(pass_weights(row(0, Pass::valence, true), {Pass::valence}), std::vector<double>{0});
}

TEST(RoundedUp, HasFewSizesAndNeverASmallerOne) {
  std::set<std::int64_t> sizes;
  for (std::int64_t n = 1; n <= 4096; ++n) {
    const std::int64_t size = rounded_up(n, 8, 64);
    EXPECT_GE(size, n);
    EXPECT_LE(size, std::max<std::int64_t>(64, n + n / 8 + 1));
    sizes.insert(size);
  }
  EXPECT_LE(sizes.size(), 1 + 6 * 8U);
}

}  // namespace
}  // namespace lockstep::dimabsa
