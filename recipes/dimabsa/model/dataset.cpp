#include "recipes/dimabsa/model/dataset.h"

#include <ATen/ops/full.h>

#include <algorithm>
#include <utility>

namespace lockstep::dimabsa {

TrainingSentences::TrainingSentences(std::shared_ptr<const std::vector<EncodedSentence>> sentences,
                                     SampleOptions options)
    : sentences_(std::move(sentences)),
      options_(std::move(options)),
      passes_(passes_of(options_.task)) {}

std::int64_t TrainingSentences::length(std::int64_t index) const {
  const EncodedSentence& sentence = sentences_->at(static_cast<std::size_t>(index));
  constexpr std::int64_t query = 12;
  std::int64_t texts = 0;
  for (const Pass pass : passes_)
    texts += pass == Pass::aspects || pass == Pass::opinions ? 1 : std::ssize(sentence.tuples);
  return texts * (sentence.size() + query);
}

void TrainingSentences::add_tuple(BatchBuilder& builder, const EncodedSentence& sentence, Pass pass,
                                  std::size_t tuple) const {
  const EncodedTuple& encoded = sentence.tuples[tuple];
  const std::optional<ValenceArousal>& va = sentence.sentence.tuples[tuple].va;
  const double share = 1 / static_cast<double>(sentence.tuples.size());
  double value = 0, weight = 0;
  if (pass == Pass::category && encoded.category >= 0) weight = options_.category;
  if (pass == Pass::valence && va) value = va->valence, weight = options_.valence;
  if (pass == Pass::arousal && va) value = va->arousal, weight = options_.arousal;
  if (!marks_spans(pass) && weight == 0) return;  // the value is unknown
  builder.add(make_text(options_.queries, sentence, question_of(pass, sentence.tuples, tuple),
                        options_.longest),
              pass, encoded.category, value, weight * share);
  if (!marks_spans(pass)) return;
  builder.weigh_spans(share / 2);
  builder.mark_span(pass == Pass::opinion_of ? encoded.opinion : encoded.aspect,
                    options_.span_weight * share / 2);
}

void TrainingSentences::add_row(BatchBuilder& builder, const EncodedSentence& sentence,
                                Pass pass) const {
  if (pass != Pass::aspects && pass != Pass::opinions) {
    for (std::size_t i = 0; i < sentence.tuples.size(); ++i) add_tuple(builder, sentence, pass, i);
    return;
  }
  builder.add(make_text(options_.queries, sentence, {.pass = pass, .aspect = {}, .opinion = {}},
                        options_.longest),
              pass, -1, 0, 0);
  builder.weigh_spans(0.5);
  for (const EncodedTuple& tuple : sentence.tuples)
    builder.mark_span(pass == Pass::aspects ? tuple.aspect : tuple.opinion,
                      options_.span_weight / 2);
}

std::vector<at::Tensor> TrainingSentences::batch(const std::vector<std::int64_t>& samples,
                                                 std::vector<SampleContext>& contexts) const {
  BatchBuilder builder(options_.queries.pad, /*rounded=*/true);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Pass pass = passes_.at(static_cast<std::size_t>(contexts[i].part));
    builder.begin_row(contexts[i].padding ? -1 : static_cast<std::int64_t>(pass));
    if (!contexts[i].padding)
      add_row(builder, sentences_->at(static_cast<std::size_t>(samples[i])), pass);
  }
  return builder.fields();
}

std::vector<at::Tensor> TrainingSentences::get(std::int64_t index, SampleContext& context) const {
  std::vector<SampleContext> contexts{context};
  return batch({index}, contexts);
}

std::vector<at::Tensor> WholeSentences::get(std::int64_t index, SampleContext&) const {
  return {at::full({}, index, at::kLong)};
}

}  // namespace lockstep::dimabsa
