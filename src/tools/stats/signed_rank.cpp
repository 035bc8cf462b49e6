#include "tools/stats/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tools/stats/distributions.h"

namespace lockstep {
namespace {

constexpr std::size_t most_exact = 100;  // their 10,100 sums of ranks take a millisecond

struct Ranks {
  // Twice the rank of each pair, because a shared rank may end in 1/2.
  std::vector<std::int64_t> doubled;
  std::int64_t more = 0, less = 0;  // sums of doubled ranks of positive and negative differences
  double ties = 0;                  // sum of t³ - t over groups of t equal ranks
};

Ranks ranks_of(std::vector<double> differences) {
  std::sort(differences.begin(), differences.end(),
            [](double x, double y) { return std::abs(x) < std::abs(y); });
  Ranks ranks;
  for (std::size_t begin = 0, end = 0; begin < differences.size(); begin = end) {
    while (end < differences.size() && std::abs(differences[end]) == std::abs(differences[begin]))
      ++end;
    // first and last rank of the group, added
    const auto shared = static_cast<std::int64_t>(begin + 1 + end);
    const auto count = static_cast<double>(end - begin);
    ranks.ties += count * count * count - count;
    for (std::size_t i = begin; i < end; ++i) {
      ranks.doubled.push_back(shared);
      (differences[i] > 0 ? ranks.more : ranks.less) += shared;
    }
  }
  return ranks;
}

// The probability of a sum of at most `sum`, if each rank is included with probability 1/2.
double chance_up_to(std::int64_t sum, const std::vector<std::int64_t>& ranks) {
  std::vector<double> chance(static_cast<std::size_t>(sum) + 1, 0);
  chance[0] = 1;
  for (const std::int64_t rank : ranks)
    for (std::int64_t i = sum; i >= 0; --i) {
      const auto at = static_cast<std::size_t>(i);
      const double without = chance[at] / 2;
      chance[at] = i < rank ? without : without + chance[static_cast<std::size_t>(i - rank)] / 2;
    }
  double all = 0;
  for (const double one : chance) all += one;
  return all;
}

double normal_chance(std::int64_t doubled_sum, std::size_t pairs, double ties) {
  const auto n = static_cast<double>(pairs);
  const double mean = n * (n + 1) / 4, variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48;
  return normal_below((static_cast<double>(doubled_sum) / 2 - mean) / std::sqrt(variance));
}

}  // namespace

SignedRank signed_rank(std::span<const double> differences) {
  SignedRank found;
  std::vector<double> other;
  for (const double difference : differences) {
    if (!std::isfinite(difference)) continue;
    ++(difference > 0 ? found.more : difference < 0 ? found.less : found.same);
    if (difference != 0) other.push_back(difference);
  }
  if (other.empty()) return found;
  const Ranks ranks = ranks_of(std::move(other));
  const std::int64_t smaller = std::min(ranks.more, ranks.less);
  const std::size_t pairs = ranks.doubled.size();
  const double tail = pairs <= most_exact ? chance_up_to(smaller, ranks.doubled)
                                          : normal_chance(smaller, pairs, ranks.ties);
  found.p = std::min(1.0, 2 * tail);
  return found;
}

}  // namespace lockstep
