#include "tools/stats/distributions.h"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace lockstep {

namespace math = boost::math;

double student_quantile(double p, double degrees) {
  return math::quantile(math::students_t(degrees), p);
}

double normal_quantile(double p) { return math::quantile(math::normal(), p); }

double normal_below(double z) { return math::cdf(math::normal(), z); }

double beta_quantile(double p, double a, double b) {
  return math::quantile(math::beta_distribution<>(a, b), p);
}

double binomial_at_most(std::int64_t hits, std::int64_t tries, double share) {
  return math::cdf(math::binomial(static_cast<double>(tries), share), static_cast<double>(hits));
}

double noncentral_t_beyond(double limit, double degrees, double noncentrality) {
  // beyond this, the probability is 1, and Boost's series may not converge
  constexpr double far = 30;
  if (noncentrality > limit + far) return 1;
  const math::non_central_t t(degrees, noncentrality);
  const double beyond = math::cdf(math::complement(t, limit)) + math::cdf(t, -limit);
  return std::clamp(beyond, 0.0, 1.0);
}

}  // namespace lockstep
