// Quantiles and probabilities of the distributions that intervals and tests need (Boost.Math).
#pragma once

#include <cstdint>

namespace lockstep {

// p in (0, 1); degrees above 0, not necessarily whole.
double student_quantile(double p, double degrees);
double normal_quantile(double p);
double normal_below(double z);
double beta_quantile(double p, double a, double b);

// The chance of at most `hits` hits in `tries`, where each try hits with the chance `share`.
double binomial_at_most(std::int64_t hits, std::int64_t tries, double share);

// The chance that |T| exceeds `limit`, for T of Student's t with that noncentrality.
double noncentral_t_beyond(double limit, double degrees, double noncentrality);

}  // namespace lockstep
