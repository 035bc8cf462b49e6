// The loss against its definition, computed number by number from each text's logits.
#include "recipes/dimabsa/model/loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <cmath>

#include "recipes/dimabsa/model/batch.h"
#include "recipes/dimabsa/model/dataset.h"

namespace lockstep::dimabsa {
namespace {

using Numbers = std::vector<std::int64_t>;

// [CLS] 1, [SEP] 2, [PAD] 0, "null" two pieces, 8 and 9.
EncodedQueries some_queries() {
  EncodedQueries queries{.tokens = {}, .null = {8, 9}, .cls = 1, .sep = 2, .pad = 0};
  queries.tokens = {Numbers{3},
                    Numbers{4},
                    Numbers{3, aspect_place, 5},
                    Numbers{4, opinion_place, 5},
                    Numbers{5, aspect_place, opinion_place},
                    Numbers{6, aspect_place, opinion_place},
                    Numbers{7, aspect_place, opinion_place}};
  return queries;
}

EncodedSentence some_sentence(std::int64_t pieces, const std::vector<EncodedTuple>& tuples) {
  EncodedSentence sentence;
  for (std::int64_t i = 0; i < pieces; ++i) {
    sentence.ids.push_back(10 + (7 * i + pieces) % 20);
    sentence.begins.push_back(2 * i);
    sentence.ends.push_back(2 * i + 1);
  }
  sentence.tuples = tuples;
  double number = 1.5;
  for (std::size_t i = 0; i < tuples.size(); ++i, number += 1.75)
    sentence.sentence.tuples.push_back({.va = ValenceArousal{number, 9.5 - number}});
  return sentence;
}

// One tuple; three of which two share an opinion and one has NULL; none.
std::vector<EncodedSentence> some_sentences() {
  return {some_sentence(4, {{.aspect = {0, 1}, .opinion = {3, 3}, .category = 2}}),
          some_sentence(7, {{.aspect = {1, 2}, .opinion = {4, 6}, .category = 0},
                            {.aspect = {}, .opinion = {4, 6}, .category = 1},
                            {.aspect = {3, 3}, .opinion = {}, .category = 2}}),
          some_sentence(5, {})};
}

Net some_net() {
  return Net({.encoder = {.vocabulary = 30,
                          .width = 8,
                          .layers = 1,
                          .heads = 2,
                          .feed_forward = 16,
                          .positions = 32},
              .task = Task::quadruplets,
              .categories = 3,
              .from_nothing = true},
             1);
}

// One sentence after another and one text after another.
class Definition {
 public:
  explicit Definition(const Net& net) : net_(net) { context_.training = false; }

  // Of one pass of a sentence.
  double loss(const EncodedSentence& sentence, Pass pass) const {
    const std::vector<EncodedTuple>& tuples = sentence.tuples;
    if (pass == Pass::aspects || pass == Pass::opinions) {
      std::vector<PieceSpan> spans;
      for (const EncodedTuple& tuple : tuples)
        spans.push_back(pass == Pass::aspects ? tuple.aspect : tuple.opinion);
      return span_loss(text_of(sentence, {.pass = pass, .aspect = {}, .opinion = {}}), pass, spans);
    }
    double sum = 0;
    for (std::size_t i = 0; i < tuples.size(); ++i) sum += tuple_loss(sentence, pass, i);
    return tuples.empty() ? 0 : sum / static_cast<double>(tuples.size());
  }

 private:
  static TextTokens text_of(const EncodedSentence& sentence, const Question& question) {
    return make_text(some_queries(), sentence, question, 32);
  }

  at::Tensor hidden_of(const TextTokens& text) const {
    Numbers segments;
    for (std::int64_t i = 0; i < text.size(); ++i) segments.push_back(i < text.answer ? 0 : 1);
    EncoderInput input;
    input.tokens = at::tensor(text.tokens);
    input.segments = at::tensor(segments);
    input.positions = at::tensor(text.positions);
    input.offsets = input.row_offsets = at::tensor(Numbers{0, text.size()});
    input.longest = text.size();
    return net_.hidden(input, context_);
  }

  // Classes weigh 1 and 3, starts and ends a half each; the query counts nowhere.
  double span_loss(const TextTokens& text, Pass pass, const std::vector<PieceSpan>& spans) const {
    const at::Tensor logits = net_.span_logits(hidden_of(text));
    const std::int64_t head = static_cast<std::int64_t>(pass);
    double sum = 0;
    for (std::int64_t token = text.answer; token < text.size(); ++token)
      for (std::int64_t side = 0; side < 2; ++side) {
        bool marked = false;
        for (const PieceSpan& span : spans) {
          const PieceSpan place = tokens_of(text, span);
          marked = marked || token == (side == 0 ? place.first : place.last);
        }
        const double no = logits[token][head][side][0].item<double>();
        const double yes = logits[token][head][side][1].item<double>();
        const double entropy = std::log(std::exp(no) + std::exp(yes)) - (marked ? yes : no);
        sum += 0.5 * (marked ? 3 : 1) * entropy;
      }
    return sum;
  }

  double tuple_loss(const EncodedSentence& sentence, Pass pass, std::size_t i) const {
    const EncodedTuple& tuple = sentence.tuples[i];
    const ValenceArousal va = *sentence.sentence.tuples[i].va;
    const TextTokens text = text_of(sentence, question_of(pass, sentence.tuples, i));
    if (pass == Pass::opinion_of) return span_loss(text, pass, {tuple.opinion});
    if (pass == Pass::aspect_of) return span_loss(text, pass, {tuple.aspect});
    const at::Tensor hidden = hidden_of(text), first = at::zeros({1}, at::kLong);
    if (pass == Pass::category) {
      const at::Tensor logits = std::get<0>(net_.category_logits(hidden, first))[0];
      double all = 0;
      for (std::int64_t c = 0; c < logits.size(0); ++c) all += std::exp(logits[c].item<double>());
      return std::log(all) - logits[tuple.category].item<double>();
    }
    const bool valence = pass == Pass::valence;
    const double found =
        std::get<0>(net_.valence_arousal(hidden, first))[0][valence ? 0 : 1].item<double>();
    const double distance = found - (valence ? va.valence : va.arousal);
    return 0.2 * distance * distance;
  }

  const Net& net_;
  StepContext context_;
};

TEST(Loss, IsThatOfItsDefinition) {
  const at::NoGradGuard guard;
  const Net net = some_net();
  const std::vector<EncodedSentence> sentences = some_sentences();
  const TrainingSentences data(std::make_shared<std::vector<EncodedSentence>>(sentences),
                               {.task = Task::quadruplets, .queries = some_queries()});
  const std::vector<Pass> passes = passes_of(Task::quadruplets);
  std::vector<std::int64_t> samples;
  std::vector<SampleContext> contexts;
  for (std::size_t i = 0; i < sentences.size(); ++i)
    for (std::size_t part = 0; part < passes.size(); ++part) {
      samples.push_back(static_cast<std::int64_t>(i));
      contexts.push_back({.random = Random(1, RandomStream::augment, 0, 0),
                          .part = static_cast<std::int64_t>(part)});
    }
  StepContext context;
  context.training = false;
  const std::vector<at::Tensor> sums =
      pass_losses(net, data.batch(samples, contexts), passes, context);
  const Definition definition(net);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    double expected = 0;
    for (const EncodedSentence& sentence : sentences)
      expected += definition.loss(sentence, passes[i]);
    EXPECT_GT(expected, 0.1) << name_of(passes[i]);
    EXPECT_NEAR(sums[i].item<double>(), expected, 1e-5 * std::max(1.0, expected))
        << name_of(passes[i]);
  }
}

// Losses and then gradients of a batch of a text, or of none, in a row for each pass.
std::vector<at::Tensor> losses_and_gradients(bool rounded, std::int64_t pieces) {
  const std::vector<Pass> passes = passes_of(Task::quadruplets);
  Net net = some_net();
  BatchBuilder builder(0, rounded);
  for (const Pass pass : passes) {
    builder.begin_row(static_cast<std::int64_t>(pass));
    const EncodedSentence sentence =
        some_sentence(pieces, {{.aspect = {0, 1}, .opinion = {3, 3}, .category = 2}});
    if (pieces == 0) continue;
    builder.add(make_text(some_queries(), sentence, question_of(pass, sentence.tuples, 0), 32),
                pass, 2, 3.5, marks_spans(pass) ? 0 : 1);
    builder.weigh_spans(0.5);
    if (marks_spans(pass)) builder.mark_span({3, 3}, 1.5);
  }
  const std::vector<at::Tensor> fields = builder.fields();
  const EncoderInput input = encoder_input(fields);
  EXPECT_EQ(input.offsets[-1].item<std::int64_t>(), input.tokens.size(0));
  EXPECT_LE(input.offsets.diff().max().item<std::int64_t>(), input.longest);
  EXPECT_GE(input.offsets.diff().min().item<std::int64_t>(), 0);
  StepContext context;
  context.training = false;
  std::vector<at::Tensor> found = pass_losses(net, fields, passes, context);
  at::Tensor sum = found[0];
  for (std::size_t i = 1; i < found.size(); ++i) sum = sum + found[i];
  sum.backward();
  for (at::Tensor& loss : found) loss = loss.detach();
  for (const Parameter& parameter : net.parameters())
    found.push_back(parameter.tensor.grad().defined() ? parameter.tensor.grad()
                                                      : at::zeros_like(parameter.tensor));
  return found;
}

TEST(Batch, HasPaddingThatIsTextsAndChangesNothing) {
  for (const std::int64_t pieces : {4, 7, 12, 21, 26}) {
    const auto exact = losses_and_gradients(false, pieces);
    const auto rounded = losses_and_gradients(true, pieces);
    ASSERT_EQ(exact.size(), rounded.size());
    for (std::size_t i = 0; i < exact.size(); ++i)
      EXPECT_TRUE(at::allclose(exact[i], rounded[i], 1e-5, 1e-6)) << pieces << " " << i;
  }
  for (const at::Tensor& zero : losses_and_gradients(true, 0))
    EXPECT_EQ(zero.abs().max().item<float>(), 0);
}

}  // namespace
}  // namespace lockstep::dimabsa
