#include "tools/stats/counts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/stats/distributions.h"
#include "tools/stats/sample.h"

namespace lockstep {
namespace {

void check(const Count& count) {
  if (count.hits < 0 || count.all < count.hits)
    throw Error(cat("a count must be between 0 and the number of all, but is ", count.hits, " of ",
                    count.all));
}

double as_double(std::int64_t number) { return static_cast<double>(number); }

// The number of hits of A, given the sizes of both groups and their total hits. It follows the
// hypergeometric distribution. Weights are relative to the mode.
class HitsOfA {
 public:
  HitsOfA(const Count& a, const Count& b)
      : a_(a.all),
        b_(b.all),
        hits_(a.hits + b.hits),
        least_(std::max<std::int64_t>(0, hits_ - b_)),
        most_(std::min(a_, hits_)),
        mode_(std::clamp(static_cast<std::int64_t>((as_double(a_) + 1) * (as_double(hits_) + 1) /
                                                   (as_double(a_) + as_double(b_) + 2)),
                         least_, most_)) {}

  // Calls use(hits, weight), from the mode outwards on both sides, until the weights are 0.
  template <class Use>
  void walk(Use use) const {
    use(mode_, 1.0);
    double weight = 1;
    for (std::int64_t k = mode_; k < most_ && weight > 0; ++k) {
      weight *= up(k);
      use(k + 1, weight);
    }
    weight = 1;
    for (std::int64_t k = mode_; k > least_ && weight > 0; --k) {
      weight /= up(k - 1);
      use(k - 1, weight);
    }
  }

 private:
  // The weight of k + 1 divided by that of k.
  double up(std::int64_t k) const {
    return as_double(a_ - k) / as_double(k + 1) * (as_double(hits_ - k)) /
           as_double(b_ - hits_ + k + 1);
  }

  std::int64_t a_, b_, hits_, least_, most_, mode_;
};

}  // namespace

Interval share_interval(const Count& count, double confidence) {
  check(count);
  check_confidence(confidence);
  if (count.all == 0) return {0, std::numeric_limits<double>::quiet_NaN(), 1};
  const double hits = as_double(count.hits), rest = as_double(count.all - count.hits);
  const double tail = (1 - confidence) / 2;
  return {hits > 0 ? beta_quantile(tail, hits, rest + 1) : 0, hits / as_double(count.all),
          rest > 0 ? beta_quantile(1 - tail, hits + 1, rest) : 1};
}

double fisher_p(const Count& a, const Count& b) {
  check(a);
  check(b);
  const HitsOfA hits(a, b);
  double seen = 0;
  hits.walk([&](std::int64_t k, double weight) {
    if (k == a.hits) seen = weight;
  });
  constexpr double rounding = 1e-7;  // weights within this relative difference count as equal
  double all = 0, unlikely = 0;
  hits.walk([&](std::int64_t, double weight) {
    all += weight;
    if (weight <= seen * (1 + rounding)) unlikely += weight;
  });
  return std::min(1.0, unlikely / all);
}

FoundDifference find(const Count& a, const Count& b, double confidence) {
  check_confidence(confidence);
  if (a.all == 0 || b.all == 0 || !(fisher_p(a, b) < 1 - confidence))
    return FoundDifference::inconclusive;
  const double of_a = as_double(a.hits) / as_double(a.all);
  return as_double(b.hits) / as_double(b.all) > of_a ? FoundDifference::more
                                                     : FoundDifference::less;
}

double mcnemar_p(const OneSided& hits) {
  if (hits.a < 0 || hits.b < 0)
    throw Error(cat("a count must not be negative, but is ", std::min(hits.a, hits.b)));
  const std::int64_t all = hits.a + hits.b;
  if (all == 0) return 1;
  constexpr double either = 0.5;
  return std::min(1.0, 2 * binomial_at_most(std::min(hits.a, hits.b), all, either));
}

FoundDifference find(const OneSided& hits, double confidence) {
  check_confidence(confidence);
  if (!(mcnemar_p(hits) < 1 - confidence)) return FoundDifference::inconclusive;
  return hits.b > hits.a ? FoundDifference::more : FoundDifference::less;
}

}  // namespace lockstep
