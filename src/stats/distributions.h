// Quantiles and probabilities of the distributions that intervals and tests need (Boost.Math).
#pragma once

namespace lockstep {

// p in (0, 1), degrees above 0 and not necessarily whole.
double student_quantile(double p, double degrees);
double normal_quantile(double p);
double normal_below(double z);
double beta_quantile(double p, double a, double b);

// Chance that |T| is above `limit`, T from Student's t with that noncentrality.
double noncentral_t_beyond(double limit, double degrees, double noncentrality);

}  // namespace lockstep
