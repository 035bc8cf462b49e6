// A model that reads token by token and remembers the tokens.
#pragma once

#include "recipes/textgen/model/generation/kv_cache.h"
#include "recipes/textgen/model/gpt.h"
#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep::textgen {

using TokenIds = std::vector<std::int64_t>;

// Handles `rows` sequences of equal length at once. Once the context is full, the window slides:
// the last half of a context is read again from position 0, because learned positions cannot move.
class IncrementalGpt {
 public:
  // The model must outlive this. context: not training; device and dtype of the parameters.
  IncrementalGpt(const Gpt& model, std::int64_t rows, const StepContext& context);

  // Reads the tokens of each row, all of the same length > 0. Returns the logits of the next token:
  // f32 [rows, vocab] on the CPU. If there are more tokens than a context has, only the last
  // context counts.
  at::Tensor read(const std::vector<TokenIds>& tokens);

  // The tokens of a row that the model sees.
  const TokenIds& window(std::int64_t row) const { return window_[static_cast<std::size_t>(row)]; }

 private:
  at::Tensor forward(std::int64_t last);

  const Gpt& model_;
  StepContext context_;
  KvCache cache_;
  std::vector<TokenIds> window_;
};

}  // namespace lockstep::textgen
