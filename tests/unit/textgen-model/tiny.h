// Small models and tokens for tests of the text model.
#pragma once

#include "recipes/textgen/model/gpt.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep::textgen {

inline GptShape tiny_shape() {
  return {.vocab = 11,
          .width = 8,
          .layers = 2,
          .heads = 2,
          .feed_forward = 12,
          .context = 6,
          .bias = true,
          .tanh_gelu = true,
          .tied = true,
          .init_std = 0.4};
}

// i64 [rows, columns], a different pattern for each salt.
inline at::Tensor some_tokens(std::int64_t rows, std::int64_t columns, std::int64_t vocab,
                              std::int64_t salt = 0) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    values.push_back((i * i * 7 + 3 * i + salt * (i + 5)) % vocab);
  return at::tensor(values, at::kLong).view({rows, columns});
}

inline StepContext quiet() {
  StepContext context;
  context.training = false;
  return context;
}

}  // namespace lockstep::textgen
