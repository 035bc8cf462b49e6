// Matches the tuples of sentences and sums the results.
#include "recipes/dimabsa/sentences/scores/score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/sentences/scores/tuple_key.h"
#include "recipes/dimabsa/sentences/scores/va.h"

namespace lockstep::dimabsa {
namespace {

using Keys = std::vector<TupleKey>;

Keys keys_of(Task task, const std::vector<Tuple>& tuples) {
  Keys keys;
  for (const Tuple& tuple : tuples) keys.push_back(key_of(task, tuple));
  return keys;
}

void count_keys(const Keys& gold, const Keys& predicted, TupleSums& sums) {
  const std::set<TupleKey> known(gold.begin(), gold.end()),
      found(predicted.begin(), predicted.end());
  sums.gold_keys = static_cast<std::int64_t>(known.size());
  sums.predicted_keys = static_cast<std::int64_t>(found.size());
  sums.shared_keys = std::count_if(found.begin(), found.end(),
                                   [&](const TupleKey& key) { return known.contains(key); });
}

// The predicted tuple with this key. In task 1, the last one. In other tasks, nothing if there are
// several.
std::optional<std::size_t> prediction_for(Task task, const TupleKey& key, const Keys& predicted) {
  const auto first = std::find(predicted.begin(), predicted.end(), key);
  if (first == predicted.end()) return std::nullopt;
  const auto last = std::find(predicted.rbegin(), predicted.rend(), key).base() - 1;
  if (task != Task::aspects && first != last) return std::nullopt;
  return static_cast<std::size_t>(last - predicted.begin());
}

Match match_of(const Tuple& gold, std::size_t gold_at, const Tuple& predicted,
               std::size_t predicted_at) {
  Match match{.gold = gold_at, .predicted = predicted_at};
  if (!predicted.va) {
    match.distance = std::numeric_limits<double>::quiet_NaN();
    return match;
  }
  match.distance = distance(*gold.va, *predicted.va);
  if (in_range(*predicted.va)) match.credit = std::max(0.0, 1 - match.distance / std::sqrt(128.0));
  return match;
}

void refuse_missing_aspects(const Aligned& aligned) {
  std::int64_t missing = 0, aspects = 0;
  std::string first;
  for (std::size_t i = 0; i < aligned.gold.size(); ++i) {
    const Keys predicted = keys_of(Task::aspects, aligned.predicted[i].tuples);
    for (const Tuple& tuple : aligned.gold[i].tuples) {
      ++aspects;
      if (prediction_for(Task::aspects, key_of(Task::aspects, tuple), predicted)) continue;
      if (missing++ == 0) first = cat("\"", tuple.aspect, "\" of ", aligned.gold[i].id);
    }
  }
  if (missing > 0)
    throw Error(
        cat(missing, " of ", aspects, " aspects have no prediction, first: ", printable(first)),
        "task 1 is scored over all aspects: predict each of them");
}

}  // namespace

SentenceScore score_sentence(Task task, const std::vector<Tuple>& gold,
                             const std::vector<Tuple>& predicted) {
  SentenceScore score;
  const Keys gold_keys = keys_of(task, gold), predicted_keys = keys_of(task, predicted);
  score.tuples.gold = static_cast<std::int64_t>(gold.size());
  score.tuples.predicted = static_cast<std::int64_t>(predicted.size());
  count_keys(gold_keys, predicted_keys, score.tuples);
  for (std::size_t i = 0; i < gold.size(); ++i) {
    LOCKSTEP_CHECK(gold[i].va.has_value());
    const auto found = prediction_for(task, gold_keys[i], predicted_keys);
    if (!found) continue;
    const Match match = match_of(gold[i], i, predicted[*found], *found);
    ++score.tuples.matched;
    score.tuples.credit += match.credit;
    if (predicted[*found].va) score.va.add(*gold[i].va, *predicted[*found].va);
    score.matches.push_back(match);
  }
  return score;
}

Scores score_in_order(Task task, std::span<const Sentence> gold,
                      std::span<const Sentence> predicted) {
  LOCKSTEP_CHECK(gold.size() == predicted.size());
  Scores scores{.sentences = static_cast<std::int64_t>(gold.size())};
  for (std::size_t i = 0; i < gold.size(); ++i) {
    const SentenceScore one = score_sentence(task, gold[i].tuples, predicted[i].tuples);
    scores.tuples += one.tuples;
    scores.va += one.va;
  }
  return scores;
}

Aligned align(const std::vector<Sentence>& gold, const std::vector<Sentence>& predicted) {
  Aligned aligned{.gold = gold};
  std::map<std::string, const Sentence*> by_id;
  for (const Sentence& sentence : predicted) by_id[sentence.id] = &sentence;
  for (const Sentence& sentence : gold) {
    const auto found = by_id.find(sentence.id);
    if (found == by_id.end()) {
      aligned.missing.push_back(sentence.id);
      aligned.predicted.push_back({.id = sentence.id, .text = sentence.text});
      continue;
    }
    aligned.predicted.push_back(*found->second);
    by_id.erase(found);
  }
  for (const Sentence& sentence : predicted) {
    const auto found = by_id.find(sentence.id);
    if (found == by_id.end() || found->second != &sentence) continue;
    aligned.unknown.push_back(sentence.id);
    aligned.gold.push_back({.id = sentence.id, .text = sentence.text});
    aligned.predicted.push_back(sentence);
  }
  return aligned;
}

Scores score(Task task, const std::vector<Sentence>& gold, const std::vector<Sentence>& predicted) {
  const Aligned aligned = align(gold, predicted);
  if (task == Task::aspects) refuse_missing_aspects(aligned);
  return score_in_order(task, aligned.gold, aligned.predicted);
}

}  // namespace lockstep::dimabsa
