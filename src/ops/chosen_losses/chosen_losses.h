// Losses of rows that each answer one of several questions, added up by question.
#pragma once

#include "ops/chosen_losses/chosen_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// logits [N, Q, M, C], floating: for each question M softmaxes over C classes. question i64 [N]: of
// row n; one that is not in [first, first + Q) counts nowhere. targets i64 [N, M], in [0, C).
// weights f32 [N, M]. Returns [Q], f32 (f64 for logits of f64):
//   [q] = sum of weights[n, m] × -log softmax(logits[n, q, m])[targets[n, m]]
//         over m and rows n whose question is first + q
// Computed in f32 (f64), in a fixed order, on GPUs in one pass each way for at most
// `chosen_most_questions`. Differentiable in logits, twice by way of ATen. Throws Error for other
// shapes and types; a target that is no class is an error on the CPU, and stops a GPU.
at::Tensor chosen_cross_entropy(const at::Tensor& logits, const at::Tensor& question,
                                const at::Tensor& targets, const at::Tensor& weights,
                                std::int64_t first = 0);

// predictions [N, Q], floating; targets, weights f32 [N]. Likewise
//   [q] = sum of weights[n] × (predictions[n, q] - targets[n])²
at::Tensor chosen_squares(const at::Tensor& predictions, const at::Tensor& question,
                          const at::Tensor& targets, const at::Tensor& weights,
                          std::int64_t first = 0);

// Both in ATen's operators, on any device: with i64 targets the first.
at::Tensor chosen_losses_reference(const at::Tensor& values, const at::Tensor& question,
                                   const at::Tensor& targets, const at::Tensor& weights,
                                   std::int64_t first);

struct ChosenLossKernels {
  void (*forward)(const ChosenLossForward&) = nullptr;  // on the current stream
  void (*backward)(const ChosenLossBackward&) = nullptr;
};
void register_cuda_chosen_losses(ChosenLossKernels kernels);

}  // namespace lockstep
