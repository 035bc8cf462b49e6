// Losses of rows, added up by question. Each row answers one of several questions.
#pragma once

#include "ops/chosen_losses/chosen_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep {

// logits: [N, Q, M, C], floating. Each question has M softmaxes over C classes. question: i64 [N],
// of each row. A row with a question outside of [first, first + Q) does not count. targets: i64 [N,
// M], in [0, C). weights: f32 [N, M]. Returns [Q], f32 (f64 for logits of f64):
//   [q] = sum of weights[n, m] × -log softmax(logits[n, q, m])[targets[n, m]]
//         over m and rows n whose question is first + q
// Computed in f32 (f64), in a fixed order. On GPUs it takes one pass in each direction, for at most
// `chosen_most_questions` questions. Differentiable in logits, and second derivatives use ATen's
// operators. Throws Error for other shapes and types. A target that is not a class is an error on
// the CPU, and stops a GPU.
at::Tensor chosen_cross_entropy(const at::Tensor& logits, const at::Tensor& question,
                                const at::Tensor& targets, const at::Tensor& weights,
                                std::int64_t first = 0);

// predictions: [N, Q], floating. targets, weights: f32 [N]. By the same rules, returns
//   [q] = sum of weights[n] × (predictions[n, q] - targets[n])²
at::Tensor chosen_squares(const at::Tensor& predictions, const at::Tensor& question,
                          const at::Tensor& targets, const at::Tensor& weights,
                          std::int64_t first = 0);

// Both losses in ATen's operators, on any device. With i64 targets it computes the first one.
at::Tensor chosen_losses_reference(const at::Tensor& values, const at::Tensor& question,
                                   const at::Tensor& targets, const at::Tensor& weights,
                                   std::int64_t first);

struct ChosenLossKernels {
  void (*forward)(const ChosenLossForward&) = nullptr;  // runs on the current stream
  void (*backward)(const ChosenLossBackward&) = nullptr;
};
void register_cuda_chosen_losses(ChosenLossKernels kernels);

}  // namespace lockstep
