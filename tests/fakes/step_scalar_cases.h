// What ops/step_scalars/step_scalars.h makes of known numbers, on CPUs and GPUs alike.
#pragma once

#include "ops/step_scalars/step_scalars.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace lockstep::testing {

struct UpdateCase {
  double raw_norm, loss_scale, dropped, clip;
  double norm, skip, divisor;  // found
};
inline const double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline const double infinite = std::numeric_limits<double>::infinity();
inline const std::vector<UpdateCase> update_cases = {
    {6, 2, 0, 0, 3, 0, 2},
    {6, 2, 0, 4, 3, 0, 2},    // below the clip
    {6, 2, 0, 1.5, 3, 0, 4},  // twice above it
    {0, 1, 0, 1, 0, 0, 1},
    {6, 2, 1, 1.5, 3, 1, 4},  // dropped
    {infinite, 2, 0, 1, infinite, 1, 2},
    {not_a_number, 4, 0, 1, not_a_number, 1, 4},
    {not_a_number, 4, 2, 0, not_a_number, 1, 4},
};

inline UpdateScalars scalars_of(const UpdateCase& known, const at::TensorOptions& f32) {
  UpdateScalars scalars{.raw_norm = at::full({1}, known.raw_norm, f32),
                        .loss_scale = at::full({1}, known.loss_scale, f32),
                        .step = at::full({1}, 41, f32),
                        .norm = at::full({1}, -1, f32),
                        .skip = at::full({1}, -1, f32),
                        .divisor = at::full({1}, -1, f32),
                        .next_step = at::full({1}, -1, f32),
                        .clip = known.clip};
  for (const float factor : {1.0F, 0.5F, 4.0F}) {
    scalars.rates.push_back(at::full({}, -1, f32));
    scalars.factors.push_back(factor);
  }
  scalars.table = rate_table(scalars);
  return scalars;
}

inline void expect_update_scalars(const at::TensorOptions& options) {
  const auto f32 = options.dtype(at::kFloat);
  const at::Tensor lr = at::full({}, 0.25, f32);
  for (const UpdateCase& known : update_cases) {
    const UpdateScalars scalars = scalars_of(known, f32);
    const at::Tensor dropped = at::full({1}, known.dropped, f32.dtype(at::kDouble));
    for (int again = 0; again < 2; ++again)  // as after memory ran out
      find_update_scalars(scalars, lr, dropped);
    const auto number = [](const at::Tensor& tensor) { return tensor.item<double>(); };
    const std::string what = ::testing::PrintToString(known.raw_norm) + " clipped to " +
                             ::testing::PrintToString(known.clip);
    if (std::isnan(known.norm))
      EXPECT_TRUE(std::isnan(number(scalars.norm))) << what;
    else
      EXPECT_EQ(number(scalars.norm), known.norm) << what;
    EXPECT_EQ(number(scalars.skip), known.skip) << what;
    EXPECT_EQ(number(scalars.divisor), known.divisor) << what;
    EXPECT_EQ(number(scalars.next_step), known.skip > 0 ? 41 : 42) << what;
    for (std::size_t i = 0; i < scalars.rates.size(); ++i)
      EXPECT_EQ(number(scalars.rates[i]), 0.25 * scalars.factors[i]) << what;
  }
  UpdateScalars alone = scalars_of(update_cases[0], f32);
  alone.rates.clear();
  alone.factors.clear();
  find_update_scalars(alone, lr, {});
  EXPECT_EQ(alone.skip.item<double>(), 0);
}

inline void expect_numbers(const at::TensorOptions& options) {
  const auto f64 = options.dtype(at::kDouble), f32 = options.dtype(at::kFloat);
  const auto host = [](const at::Tensor& tensor) { return tensor.cpu(); };
  const auto expected = [](std::vector<double> values, at::ScalarType type = at::kDouble) {
    return at::tensor(values, at::kDouble).to(type);
  };

  const StepFactors factors =
      step_factors(at::tensor({4.0, 0.0, -2.0, 0.5}, f64), at::full({1}, 8.0, f32));
  EXPECT_TRUE(at::equal(host(factors.factors), expected({0.25, 0, 0, 2}, at::kFloat)));
  EXPECT_TRUE(at::equal(host(factors.scales), expected({2, 0, 0, 16}, at::kFloat)));

  // More than the threads of a warp.
  const at::Tensor report = at::arange(70, f64);
  const at::Tensor own =
      own_numbers(report, at::tensor({-1.5, -2.5}, f64), at::full({1}, 3.0, f64), 2);
  at::Tensor numbers = at::arange(70, at::kDouble);
  numbers[0] = -1.5, numbers[1] = -2.5, numbers[2] = 5;
  EXPECT_TRUE(at::equal(host(own), numbers));
  EXPECT_TRUE(at::equal(host(report), at::arange(70, at::kDouble)));

  const at::Tensor dropped = at::full({1}, 9.0, f64);
  at::Tensor sum = at::arange(70, f64);
  find_dropped(sum, 40, 60, dropped);
  EXPECT_EQ(dropped.item<double>(), 60);
  sum[60] = 0;
  find_dropped(sum, 40, 60, dropped);
  EXPECT_EQ(dropped.item<double>(), 0);
  sum[40] = not_a_number;  // no term
  find_dropped(sum, 40, 60, dropped);
  EXPECT_EQ(dropped.item<double>(), 0);
  for (const std::int64_t term : {0, 39}) {
    at::Tensor one = sum.clone();
    one[term] = term == 0 ? not_a_number : infinite;
    find_dropped(one, 40, 60, dropped);
    EXPECT_EQ(dropped.item<double>(), 1);
  }

  const at::Tensor whole =
      host_metrics(at::arange(40, f64), at::full({1}, 0.5, f32), at::full({1}, 8.0, f32),
                   at::full({1}, 2.0, f64), at::tensor({1e9 + 0.25, 1e9 + 0.5}, f64));
  EXPECT_TRUE(at::equal(host(whole).narrow(0, 0, 40), at::arange(40, at::kDouble)));
  EXPECT_TRUE(
      at::equal(host(whole).narrow(0, 40, 5), expected({0.5, 8, 2, 1e9 + 0.25, 1e9 + 0.5})));
}

}  // namespace lockstep::testing
