// Rules that update matrices alone, by Muon: what AdamW does beside them is in muon_rule.cpp.
#pragma once

#include "training/update/optimizer_rule.h"

#include <cstdint>
#include <memory>

namespace lockstep {

// The iteration of Newton and Schulz.
inline constexpr double muon_linear = 3.4445, muon_cubic = -4.7750, muon_quintic = 2.0315;
inline constexpr int muon_iterations = 5;

// The rate of a matrix in parts of optimizer.lr.
double muon_rate_factor(const TrainOptions& options, std::int64_t rows, std::int64_t columns);

// By ATen, one matrix after another.
std::unique_ptr<OptimizerRule> make_muon_by_aten(const TrainOptions& options,
                                                 const UpdateNumbers& numbers);
// By our own kernels, on GPUs: all matrices of a shape at once.
std::unique_ptr<OptimizerRule> make_muon_by_kernels(const TrainOptions& options,
                                                    const UpdateNumbers& numbers);

}  // namespace lockstep
