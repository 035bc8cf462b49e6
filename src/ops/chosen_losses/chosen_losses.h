// Computes losses for a model that answers several questions, and adds them up by question. Only
// one of the questions is asked about each row.
#pragma once

#include "ops/chosen_losses/chosen_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// Returns the sum of cross-entropies for each of Q questions, [Q], f32 (f64 for logits of f64):
//   [q] = sum of weights[n, m] × -log softmax(logits[n, q, m])[targets[n, m]]
//         over all m, and over the rows n whose question is first + q
// Arguments:
//   logits     [N, Q, M, C], floating: for each question M answers, with C classes each
//   question   i64 [N]: the question of each row; rows outside of [first, first + Q) are ignored
//   targets    i64 [N, M], in [0, C)
//   weights    f32 [N, M]
// Computes in f32 (f64 for f64), on GPUs in a fixed order. GPUs need one pass in forward and one in
// backward if there are at most `chosen_most_questions` questions. The result is differentiable in
// logits, and second derivatives use ATen's operators. Throws Error for other shapes and dtypes. A
// target outside of [0, C) is an error on the CPU, and fails a device-side assertion on GPUs.
at::Tensor chosen_cross_entropy(const at::Tensor& logits, const at::Tensor& question,
                                const at::Tensor& targets, const at::Tensor& weights,
                                std::int64_t first = 0);

// Returns the sum of squared errors for each question, by the rules of chosen_cross_entropy:
//   [q] = sum of weights[n] × (predictions[n, q] - targets[n])²
// predictions are floating [N, Q]. targets and weights are f32 [N].
at::Tensor chosen_squares(const at::Tensor& predictions, const at::Tensor& question,
                          const at::Tensor& targets, const at::Tensor& weights,
                          std::int64_t first = 0);

// Computes chosen_cross_entropy for i64 targets, else chosen_squares, with ATen's operators on any
// device.
at::Tensor chosen_losses_reference(const at::Tensor& values, const at::Tensor& question,
                                   const at::Tensor& targets, const at::Tensor& weights,
                                   std::int64_t first);

struct ChosenLossKernels {
  void (*forward)(const ChosenLossForward&) = nullptr;  // runs on the current stream
  void (*backward)(const ChosenLossBackward&) = nullptr;
};
void register_cuda_chosen_losses(ChosenLossKernels kernels);

}  // namespace lockstep
