#include "recipes/dimabsa/model/decode.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace lockstep::dimabsa {
namespace {

// Keeps the most probable elements in their original order.
template <class Found>
std::vector<Found> most_probable(std::vector<Found> all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return all[a].probability > all[b].probability;
  });
  order.resize(most);
  std::sort(order.begin(), order.end());
  std::vector<Found> kept;
  for (const std::size_t i : order) kept.push_back(std::move(all[i]));
  return kept;
}

using Key = std::pair<PieceSpan, PieceSpan>;

// Keeps the higher probability of pairs that occur twice.
std::map<Key, double> by_key(const std::vector<FoundPair>& pairs) {
  std::map<Key, double> found;
  for (const FoundPair& pair : pairs) {
    double& probability = found[{pair.aspect, pair.opinion}];
    probability = std::max(probability, pair.probability);
  }
  return found;
}

}  // namespace

std::vector<FoundSpan> find_spans(std::span<const double> start, std::span<const double> end,
                                  std::int64_t nulls, const DecodeOptions& options) {
  std::vector<FoundSpan> found;
  const auto first_null = std::size_t{0}, last_null = static_cast<std::size_t>(nulls - 1);
  if (start[first_null] > options.threshold && end[last_null] > options.threshold)
    found.push_back({.span = {}, .probability = std::sqrt(start[first_null] * end[last_null])});
  const std::int64_t pieces = std::ssize(end) - nulls;
  const auto at = [&](std::span<const double> of, std::int64_t piece) {
    return of[static_cast<std::size_t>(nulls + piece)];
  };
  for (std::int64_t last = 0, before = -1; last < pieces; ++last) {
    if (at(end, last) <= options.threshold) continue;
    std::int64_t best = -1;
    for (std::int64_t first = last; first >= 0 && last - first < options.longest_span; --first) {
      if (options.apart && first == before && best >= 0) break;
      if (at(start, first) > options.threshold && (best < 0 || at(start, first) > at(start, best)))
        best = first;
    }
    before = last;
    if (best >= 0)
      found.push_back(
          {.span = {best, last}, .probability = std::sqrt(at(start, best) * at(end, last))});
  }
  return most_probable(std::move(found), options.most);
}

std::vector<FoundPair> pairs_of(const std::vector<FoundSpan>& first,
                                const std::vector<std::vector<FoundSpan>>& answers, bool forward) {
  std::vector<FoundPair> pairs;
  for (std::size_t i = 0; i < first.size(); ++i)
    for (const FoundSpan& second : answers.at(i))
      pairs.push_back({.aspect = forward ? first[i].span : second.span,
                       .opinion = forward ? second.span : first[i].span,
                       .probability = std::sqrt(first[i].probability * second.probability)});
  return pairs;
}

std::vector<FoundPair> keep_pairs(const std::vector<FoundPair>& forward,
                                  const std::vector<FoundPair>& backward,
                                  const DecodeOptions& options) {
  const std::map<Key, double> one = by_key(forward), other = by_key(backward);
  std::map<Key, double> kept;
  for (const auto* direction : {&one, &other})
    for (const auto& [key, probability] : *direction)
      if ((one.contains(key) && other.contains(key)) || probability >= options.beta)
        kept[key] = std::max(kept[key], probability);
  std::vector<FoundPair> pairs;
  for (const auto& [key, probability] : kept)
    pairs.push_back({.aspect = key.first, .opinion = key.second, .probability = probability});
  return most_probable(std::move(pairs), options.most);
}

}  // namespace lockstep::dimabsa
