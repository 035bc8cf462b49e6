#include "recipes/dimabsa/model/as_sentence.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/text/text.h"
#include "recipes/dimabsa/sentences/files/writer.h"
#include "recipes/dimabsa/sentences/scores/va.h"

namespace lockstep::dimabsa {
namespace {

double rounded(double value) { return std::round(value * 100) / 100; }

ValenceArousal as_written(const FoundTuple& tuple) {
  const ValenceArousal va = clamped({tuple.valence, tuple.arousal});
  return {rounded(va.valence), rounded(va.arousal)};
}

// The indices, sorted by falling probability.
std::vector<std::size_t> by_probability(const std::vector<FoundTuple>& found) {
  std::vector<std::size_t> order(found.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return found[a].probability > found[b].probability;
  });
  return order;
}

}  // namespace

std::string phrase_of(const EncodedSentence& sentence, const PieceSpan& span) {
  if (span.is_null()) return null_phrase;
  const auto begin =
      static_cast<std::size_t>(sentence.begins.at(static_cast<std::size_t>(span.first)));
  const auto end = static_cast<std::size_t>(sentence.ends.at(static_cast<std::size_t>(span.last)));
  const std::string phrase = trim(sentence.sentence.text.substr(begin, end - begin));
  return phrase.empty() ? null_phrase : phrase;
}

Sentence as_sentence(Task task, const EncodedSentence& sentence,
                     const std::vector<FoundTuple>& found,
                     const std::vector<std::string>& categories) {
  Sentence result{.id = sentence.sentence.id,
                  .text = sentence.sentence.text,
                  .tuples = {},
                  .line = sentence.sentence.line};
  for (const std::size_t i : by_probability(found)) {
    const FoundTuple& tuple = found[i];
    Tuple named{.aspect = phrase_of(sentence, tuple.aspect),
                .opinion = phrase_of(sentence, tuple.opinion),
                .category = {},
                .va = as_written(tuple)};
    if (task == Task::aspects) {
      named.aspect = sentence.sentence.tuples.at(i).aspect;
      named.opinion.clear();
    }
    if (task == Task::quadruplets && tuple.category >= 0)
      named.category = categories.at(static_cast<std::size_t>(tuple.category));
    result.tuples.push_back(std::move(named));
  }
  result.tuples = without_duplicates(task, result.tuples);
  return result;
}

}  // namespace lockstep::dimabsa
