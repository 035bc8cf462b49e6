#include "recipes/dimabsa/model/find_tuples.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <utility>

#include "recipes/dimabsa/model/batch.h"

namespace lockstep::dimabsa {
namespace {

constexpr std::int64_t numbers_per_tuple = 8;

// Builds a batch from the queries [begin, end). Each text becomes a row of its own, on the device.
template <class AskedList>
std::vector<at::Tensor> batch_of(const std::vector<const EncodedSentence*>& sentences,
                                 const AskedList& asked, std::size_t begin, std::size_t end,
                                 const FinderOptions& options, at::Device device,
                                 std::vector<TextTokens>& texts) {
  BatchBuilder builder(options.queries.pad, /*rounded=*/false);
  texts.clear();
  for (std::size_t i = begin; i < end; ++i) {
    const auto& one = asked[i];
    texts.push_back(
        make_text(options.queries, *sentences[one.sentence], one.question, options.longest));
    builder.begin_row(static_cast<std::int64_t>(one.question.pass));
    builder.add(texts.back(), one.question.pass, -1, 0, 0);
  }
  std::vector<at::Tensor> fields = builder.fields();
  for (at::Tensor& field : fields) field = field.to(device);
  return fields;
}

// The probabilities that a span begins and ends at each token, f64 [N, 2] on the CPU. Each token
// uses the head of its pass.
at::Tensor span_probabilities(const Net& net, const std::vector<at::Tensor>& fields,
                              const StepContext& context) {
  const at::Tensor logits = net.span_logits(net.hidden(encoder_input(fields), context));
  const at::Tensor pass =
      field(fields, Field::token_pass).view({-1, 1, 1, 1}).expand({-1, 1, 2, 2});
  return at::softmax(logits.gather(1, pass).squeeze(1), 2, at::kFloat)
      .select(2, 1)
      .to(at::kCPU, at::kDouble);
}

// The values of one column for the tokens [begin, end).
std::vector<double> column_of(const at::Tensor& probabilities, std::int64_t begin, std::int64_t end,
                              std::int64_t side) {
  std::vector<double> values;
  const auto rows = probabilities.accessor<double, 2>();
  for (std::int64_t i = begin; i < end; ++i) values.push_back(rows[i][side]);
  return values;
}

}  // namespace

at::Tensor to_record(const std::vector<FoundTuple>& tuples) {
  std::vector<double> numbers;
  for (const FoundTuple& tuple : tuples)
    for (const double number :
         {static_cast<double>(tuple.aspect.first), static_cast<double>(tuple.aspect.last),
          static_cast<double>(tuple.opinion.first), static_cast<double>(tuple.opinion.last),
          static_cast<double>(tuple.category), tuple.valence, tuple.arousal, tuple.probability})
      numbers.push_back(number);
  return at::tensor(numbers, at::kDouble).view({std::ssize(tuples), numbers_per_tuple});
}

std::vector<FoundTuple> from_record(const at::Tensor& record) {
  std::vector<FoundTuple> tuples;
  const at::Tensor rows =
      record.contiguous().view({record.numel() / numbers_per_tuple, numbers_per_tuple});
  const auto number = rows.accessor<double, 2>();
  const auto whole = [&](std::int64_t i, std::int64_t j) {
    return static_cast<std::int64_t>(number[i][j]);
  };
  for (std::int64_t i = 0; i < rows.size(0); ++i)
    tuples.push_back({.aspect = {whole(i, 0), whole(i, 1)},
                      .opinion = {whole(i, 2), whole(i, 3)},
                      .category = whole(i, 4),
                      .valence = number[i][5],
                      .arousal = number[i][6],
                      .probability = number[i][7]});
  return tuples;
}

std::vector<std::vector<FoundSpan>> TupleFinder::ask_spans(
    const std::vector<const EncodedSentence*>& sentences, const std::vector<Asked>& asked) const {
  std::vector<std::vector<FoundSpan>> found;
  std::vector<TextTokens> texts;
  const auto at_once = static_cast<std::size_t>(texts_at_once(options_.longest));
  for (std::size_t begin = 0; begin < asked.size(); begin += at_once) {
    const std::size_t end = std::min(asked.size(), begin + at_once);
    const std::vector<at::Tensor> fields =
        batch_of(sentences, asked, begin, end, options_, context_.device, texts);
    const at::Tensor probabilities = span_probabilities(net_, fields, context_);
    std::int64_t token = 0;
    for (const TextTokens& text : texts) {
      const std::int64_t answer = token + text.answer, behind = token + text.size();
      found.push_back(find_spans(column_of(probabilities, answer, behind, 0),
                                 column_of(probabilities, answer, behind, 1), text.nulls,
                                 options_.decode));
      token = behind;
    }
  }
  return found;
}

TupleFinder::Answers TupleFinder::ask_values(const std::vector<const EncodedSentence*>& sentences,
                                             const std::vector<Asked>& asked,
                                             bool categories) const {
  std::vector<at::Tensor> chosen, values;
  std::vector<TextTokens> texts;
  const auto at_once = static_cast<std::size_t>(texts_at_once(options_.longest));
  for (std::size_t begin = 0; begin < asked.size(); begin += at_once) {
    const std::size_t end = std::min(asked.size(), begin + at_once);
    const std::vector<at::Tensor> fields =
        batch_of(sentences, asked, begin, end, options_, context_.device, texts);
    const at::Tensor hidden = net_.hidden(encoder_input(fields), context_);
    const at::Tensor& first = field(fields, Field::first_tokens);
    if (categories)
      chosen.push_back(std::get<0>(net_.category_logits(hidden, first)).argmax(1).cpu());
    values.push_back(std::get<0>(net_.valence_arousal(hidden, first)).to(at::kCPU, at::kDouble));
  }
  return {.categories = categories ? at::cat(chosen) : at::Tensor(),
          .valence_arousal = at::cat(values)};
}

std::vector<std::vector<FoundTuple>> TupleFinder::find_pairs(
    const std::vector<const EncodedSentence*>& sentences) const {
  std::vector<Asked> asked;
  for (const Pass pass : {Pass::aspects, Pass::opinions})
    for (std::size_t i = 0; i < sentences.size(); ++i)
      asked.push_back({i, {.pass = pass, .aspect = {}, .opinion = {}}});
  const std::vector<std::vector<FoundSpan>> first = ask_spans(sentences, asked);
  std::vector<Asked> second;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const bool forward = asked[i].question.pass == Pass::aspects;
    for (const FoundSpan& found : first[i])
      second.push_back({asked[i].sentence,
                        {.pass = forward ? Pass::opinion_of : Pass::aspect_of,
                         .aspect = forward ? found.span : PieceSpan{},
                         .opinion = forward ? PieceSpan{} : found.span}});
  }
  const std::vector<std::vector<FoundSpan>> answers = ask_spans(sentences, second);
  std::vector<std::vector<FoundPair>> forward(sentences.size()), backward(sentences.size());
  auto answer = answers.begin();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto end = answer + std::ssize(first[i]);
    const bool is_forward = asked[i].question.pass == Pass::aspects;
    (is_forward ? forward : backward)[asked[i].sentence] =
        pairs_of(first[i], {answer, end}, is_forward);
    answer = end;
  }
  std::vector<std::vector<FoundTuple>> found(sentences.size());
  for (std::size_t i = 0; i < sentences.size(); ++i)
    for (const FoundPair& pair : keep_pairs(forward[i], backward[i], options_.decode))
      found[i].push_back(
          {.aspect = pair.aspect, .opinion = pair.opinion, .probability = pair.probability});
  return found;
}

void TupleFinder::add_values(const std::vector<const EncodedSentence*>& sentences,
                             std::vector<std::vector<FoundTuple>>& found) const {
  std::vector<Pass> passes{Pass::valence, Pass::arousal};
  if (net_.shape().task == Task::quadruplets) passes.push_back(Pass::category);
  for (const Pass pass : passes) {
    std::vector<Asked> asked;
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      std::vector<EncodedTuple> tuples;
      for (const FoundTuple& tuple : found[i])
        tuples.push_back({.aspect = tuple.aspect, .opinion = tuple.opinion});
      for (std::size_t t = 0; t < tuples.size(); ++t)
        asked.push_back({i, question_of(pass, tuples, t)});
    }
    if (asked.empty()) return;
    const Answers answers = ask_values(sentences, asked, pass == Pass::category);
    std::int64_t at = 0;
    for (std::vector<FoundTuple>& tuples : found)
      for (FoundTuple& tuple : tuples) {
        if (pass == Pass::category)
          tuple.category = answers.categories[at].item<std::int64_t>();
        else if (pass == Pass::valence)
          tuple.valence = answers.valence_arousal[at][0].item<double>();
        else
          tuple.arousal = answers.valence_arousal[at][1].item<double>();
        ++at;
      }
  }
}

std::vector<std::vector<FoundTuple>> TupleFinder::find(
    const std::vector<const EncodedSentence*>& sentences) const {
  std::vector<std::vector<FoundTuple>> found(sentences.size());
  if (net_.shape().task == Task::aspects) {
    for (std::size_t i = 0; i < sentences.size(); ++i)
      for (const EncodedTuple& tuple : sentences[i]->tuples)
        found[i].push_back({.aspect = tuple.aspect, .opinion = {}});
  } else {
    found = find_pairs(sentences);
  }
  add_values(sentences, found);
  return found;
}

}  // namespace lockstep::dimabsa
