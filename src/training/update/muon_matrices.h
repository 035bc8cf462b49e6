// Declares the rules that update matrices with Muon. muon_rule.cpp combines them with AdamW for all
// other parameters.
#pragma once

#include "training/update/optimizer_rule.h"

#include <cstdint>
#include <memory>

namespace lockstep {

// The coefficients of the Newton-Schulz iteration and the number of iterations, as in
// torch.optim.Muon.
inline constexpr double muon_linear = 3.4445, muon_cubic = -4.7750, muon_quintic = 2.0315;
inline constexpr int muon_iterations = 5;

// Returns the factor by which optimizer.lr is multiplied for a matrix of this shape.
double muon_rate_factor(const TrainOptions& options, std::int64_t rows, std::int64_t columns);

// Makes a rule that uses ATen operations, one matrix after another.
std::unique_ptr<OptimizerRule> make_muon_by_aten(const TrainOptions& options,
                                                 const UpdateNumbers& numbers);
// Makes a rule that uses Lockstep's own CUDA kernels, for all matrices of one shape at once.
std::unique_ptr<OptimizerRule> make_muon_by_kernels(const TrainOptions& options,
                                                    const UpdateNumbers& numbers);

}  // namespace lockstep
