// Arguments of the kernels of chosen_losses.h: plain pointers and sizes. This header does not
// include torch, so CUDA sources can include it.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

constexpr int chosen_most_questions = 8;

// All pointers are to device memory. A row has `answers` answers to each question. An answer is
// `classes` logits, or one number if classes is 0. A member `of_x` is the gradient of x.
struct ChosenLossArguments {
  const void* values = nullptr;  // [rows, questions, answers, classes or 1]
  KernelDtype dtype = KernelDtype::f32;
  const std::int64_t* question = nullptr;  // [rows]; question q is at q - first in `values`
  const std::int64_t* labels = nullptr;    // [rows, answers]; null if `numbers` is set
  const float* numbers = nullptr;          // [rows, answers]
  const float* weights = nullptr;          // [rows, answers]
  std::int64_t rows = 0, questions = 0, answers = 1, classes = 0, first = 0;
};
constexpr std::int64_t chosen_chunk = 2048;  // answers for each thread block
struct ChosenLossForward {
  ChosenLossArguments shared;
  std::int64_t chunks = 0;
  float* partial = nullptr;  // [chunks, questions]
  float* sums = nullptr;     // [questions]
};
struct ChosenLossBackward {
  ChosenLossArguments shared;
  const float* of_sums = nullptr;  // [questions]
  void* of_values = nullptr;       // every element is written
};

}  // namespace lockstep
