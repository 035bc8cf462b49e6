// Rules that update matrices with Muon. muon_rule.cpp updates the other parameters with AdamW.
#pragma once

#include "training/update/optimizer_rule.h"

#include <cstdint>
#include <memory>

namespace lockstep {

// The iteration of Newton and Schulz.
inline constexpr double muon_linear = 3.4445, muon_cubic = -4.7750, muon_quintic = 2.0315;
inline constexpr int muon_iterations = 5;

// The learning rate of a matrix, as a factor on optimizer.lr.
double muon_rate_factor(const TrainOptions& options, std::int64_t rows, std::int64_t columns);

// Uses ATen, one matrix after another.
std::unique_ptr<OptimizerRule> make_muon_by_aten(const TrainOptions& options,
                                                 const UpdateNumbers& numbers);
// Uses our own kernels, on GPUs, for all matrices of the same shape at once.
std::unique_ptr<OptimizerRule> make_muon_by_kernels(const TrainOptions& options,
                                                    const UpdateNumbers& numbers);

}  // namespace lockstep
