#include "plan/micro_search.h"

#include "base/check.h"
#include "plan/plan.h"

#include <algorithm>

namespace lockstep {

MicroSearch::MicroSearch(std::int64_t share, std::int64_t first, double fixed_bytes,
                         double available_bytes)
    : first_(first), fixed_bytes_(fixed_bytes), available_bytes_(available_bytes) {
  LOCKSTEP_CHECK(share > 0);
  for (std::int64_t limit = share; limit > 0; limit = divisors_.back() - 1)
    divisors_.push_back(largest_divisor(share, limit));
  std::reverse(divisors_.begin(), divisors_.end());
}

std::optional<std::int64_t> MicroSearch::next() const {
  std::vector<std::int64_t> open;
  for (const std::int64_t divisor : divisors_)
    if (divisor > good_ && (bad_ == 0 || divisor < bad_)) open.push_back(divisor);
  if (open.empty()) return std::nullopt;
  if (good_ == 0 && bad_ != 0 && !predicted_) return open[open.size() / 2];
  const double wish = predicted_ ? *predicted_ : static_cast<double>(first_);
  const auto above = std::upper_bound(
      open.begin(), open.end(), wish,
      [](double limit, std::int64_t divisor) { return limit < static_cast<double>(divisor); });
  if (above != open.begin()) return *(above - 1);
  // By what was measured not even the next one fits; without a good one the smallest is tried.
  if (good_ > 0) return std::nullopt;
  return open.front();
}

void MicroSearch::tried(std::int64_t micro, std::optional<double> peak_bytes) {
  const bool fits = peak_bytes && *peak_bytes <= available_bytes_;
  if (fits && micro > good_) {
    good_ = micro;
    good_peak_ = *peak_bytes;
  }
  if (!fits && (bad_ == 0 || micro < bad_)) bad_ = micro;
  if (!peak_bytes) return;
  // Two measurements know what the estimate of the fixed part is worth.
  double from_bytes = fixed_bytes_;
  std::int64_t from = 0;
  if (last_micro_ != 0 && last_micro_ != micro &&
      (*peak_bytes > last_peak_) == (micro > last_micro_)) {
    from = last_micro_;
    from_bytes = last_peak_;
  }
  const double per_sample = (*peak_bytes - from_bytes) / static_cast<double>(micro - from);
  if (per_sample > 0)
    predicted_ = static_cast<double>(micro) + (available_bytes_ - *peak_bytes) / per_sample;
  last_micro_ = micro;
  last_peak_ = *peak_bytes;
}

}  // namespace lockstep
