// Quantiles and probabilities of the distributions that intervals and tests need (Boost.Math).
#pragma once

#include <cstdint>

namespace lockstep {

// p in (0, 1). degrees: degrees of freedom, above 0; they need not be whole.
double student_quantile(double p, double degrees);
double normal_quantile(double p);
double normal_below(double z);
double beta_quantile(double p, double a, double b);

// The probability of at most `hits` hits in `tries`, if each try hits with the probability `share`.
double binomial_at_most(std::int64_t hits, std::int64_t tries, double share);

// The probability that |T| exceeds `limit`, for T with Student's noncentral t distribution.
double noncentral_t_beyond(double limit, double degrees, double noncentrality);

}  // namespace lockstep
