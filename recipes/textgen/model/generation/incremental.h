// Runs a GPT token by token, with a cache of keys and values.
#pragma once

#include "recipes/textgen/model/generation/kv_cache.h"
#include "recipes/textgen/model/gpt.h"
#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep::textgen {

using TokenIds = std::vector<std::int64_t>;

// Handles `rows` sequences of equal length at once. If new tokens no longer fit into the context,
// the window of tokens that the model sees slides. The cache is cleared, and the last half of a
// context is read again from position 0. This is necessary because cached keys and values contain
// learned positions.
class IncrementalGpt {
 public:
  // The model must outlive this object. context: its device and compute_dtype must be those of the
  // parameters. Its member `training` is ignored.
  IncrementalGpt(const Gpt& model, std::int64_t rows, const StepContext& context);

  // Reads new tokens for each row. All rows must have the same number of new tokens, at least one.
  // Returns the logits of the next token: f32 [rows, vocab] on the CPU. If there are more new
  // tokens than fit into the context, only the last ones are used.
  at::Tensor read(const std::vector<TokenIds>& tokens);

  // Returns the tokens of a row that the model sees.
  const TokenIds& window(std::int64_t row) const { return window_[static_cast<std::size_t>(row)]; }

 private:
  at::Tensor forward(std::int64_t last);

  const Gpt& model_;
  StepContext context_;
  KvCache cache_;
  std::vector<TokenIds> window_;
};

}  // namespace lockstep::textgen
