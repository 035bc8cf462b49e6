// Chooses the next token from logits.
#include "recipes/textgen/model/generation/sampler.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/philox.h"

#include <algorithm>
#include <cmath>

namespace lockstep::textgen {
namespace {

bool more_likely(const Candidate& a, const Candidate& b) {
  return a.probability != b.probability ? a.probability > b.probability : a.token < b.token;
}

// Returns all tokens. `probability` contains the logits after the repetition penalty.
std::vector<Candidate> penalised(std::span<const float> logits,
                                 std::span<const std::int64_t> history, double penalty) {
  std::vector<char> seen(logits.size(), 0);
  if (penalty != 1)
    for (const std::int64_t token : history)
      if (token >= 0 && token < std::ssize(logits)) seen[static_cast<std::size_t>(token)] = 1;
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    double logit = logits[i];
    if (std::isnan(logit) || logit == -INFINITY) continue;
    if (seen[i]) logit = logit > 0 ? logit / penalty : logit * penalty;
    all.push_back({static_cast<std::int64_t>(i), logit});
  }
  if (all.empty())
    throw Error("the model gives no token a probability: all logits are NaN or -inf",
                "the weights are broken; use an earlier checkpoint");
  return all;
}

void softmax(std::vector<Candidate>& sorted, double temperature) {
  const double largest = sorted.front().probability;
  double sum = 0;
  for (Candidate& c : sorted) {
    // Two values of +inf are treated as equal.
    const double below = c.probability == largest ? 0 : c.probability - largest;
    sum += c.probability = std::exp(below / temperature);
  }
  for (Candidate& c : sorted) c.probability /= sum;
}

void keep_share(std::vector<Candidate>& sorted, double share) {
  double sum = 0;
  std::size_t count = 0;
  while (count < sorted.size() && sum < share) sum += sorted[count++].probability;
  sorted.resize(std::max<std::size_t>(count, 1));
  sum = 0;
  for (const Candidate& c : sorted) sum += c.probability;
  for (Candidate& c : sorted) c.probability /= sum;
}

}  // namespace

std::vector<Candidate> candidates(std::span<const float> logits,
                                  std::span<const std::int64_t> history,
                                  const SamplerOptions& options) {
  std::vector<Candidate> kept = penalised(logits, history, options.repetition_penalty);
  if (options.temperature == 0) {
    const std::int64_t best = std::min_element(kept.begin(), kept.end(), more_likely)->token;
    return {{best, 1}};
  }
  const bool cut = options.top_k > 0 && options.top_k < std::ssize(kept);
  const auto end = cut ? kept.begin() + options.top_k : kept.end();
  std::partial_sort(kept.begin(), end, kept.end(), more_likely);
  kept.erase(end, kept.end());
  softmax(kept, options.temperature);
  if (options.top_p < 1) keep_share(kept, options.top_p);
  return kept;
}

std::int64_t pick(std::span<const Candidate> candidates, double u) {
  LOCKSTEP_CHECK(!candidates.empty());
  double sum = 0;
  for (const Candidate& c : candidates)
    if (u < (sum += c.probability)) return c.token;
  return candidates.back().token;  // rounding left the sum just below 1
}

std::int64_t sample_token(std::span<const float> logits, std::span<const std::int64_t> history,
                          const SamplerOptions& options, std::uint64_t seed, std::uint64_t sequence,
                          std::uint64_t position) {
  Random random(seed, RandomStream::sample, sequence, position);
  return pick(candidates(logits, history, options), random.uniform());
}

}  // namespace lockstep::textgen
