// Parameters and memory of the text model as formulas.
#include <algorithm>

#include "plan/memory.h"
#include "recipes/textgen/options/text_options.h"

namespace lockstep::textgen {

std::int64_t TextOptions::parameter_count(std::int64_t tokenizer_vocab) const {
  const std::int64_t vocab = model_vocab(tokenizer_vocab);
  const std::int64_t width = model.width, hidden = model.hidden();
  const std::int64_t norm = width * (model.bias ? 2 : 1);
  const std::int64_t weights = width * 3 * width + width * width + 2 * width * hidden;
  const std::int64_t biases = model.bias ? 3 * width + width + hidden + width : 0;
  const std::int64_t block = 2 * norm + weights + biases;
  const std::int64_t head = model.tied ? 0 : vocab * width;
  return vocab * width + model.context * width + model.layers * block + norm + head;
}

// What a rank holds, in bytes.
// Fixed, a parameter: weights, gradients and the optimizer's state; in low precision also a
// gradient of the working copy, 2. With that the workspace of the matrix library on a GPU. A token
// of a sample, with e bytes an element (4 or 2), width W, hidden size F, vocabulary V:
//   a block keeps for backward the input of both norms and their results (4 W), q, k, v (3 W), the
//   attention's result (W), the feed-forward part before and after GELU (2 F): e (8 W + 2 F), and
//   with dropout two results (2 W e) and masks (2 W); attention's own scores (heads x context, kept
//   three times) only where their dropout forbids the fused way;
//   embeddings and the last norm: 4 W e; logits, their fp32 copy, and the gradient of both:
//   V (e + 4 + 4 + e).
// Backward holds one block's gradients beside that: e (8 W + 2 F). Of a block that backward
// computes again only what goes in stays: the stream and the last branch, 2 W e.
MemoryEstimate TextOptions::memory(const TrainOptions& train, const Facts& facts) const {
  const bool low = train.precision != Precision::fp32;
  const double element = low ? 2 : 4;
  const double optimizer = optimizer_bytes_per_parameter(train);
  const double parameter = weight_bytes_per_parameter(train) + optimizer + (low ? 2 : 0);
  const double width = static_cast<double>(model.width);
  const double block = element * (8 * width + 2 * static_cast<double>(model.hidden()));
  const double dropout = model.dropout > 0 ? 2 * width * (element + 1) : 0;
  const double scores = model.attention_dropout > 0
                            ? 3 * element * static_cast<double>(model.heads * model.context)
                            : 0;
  const double vocab =
      static_cast<double>(std::max<std::int64_t>(256, model_vocab(prepared_vocab_)));
  const double token = static_cast<double>(model.layers) * (block + dropout + scores) + block +
                       4 * width * element + vocab * (2 * element + 8);
  const double parameters = static_cast<double>(
      facts.parameters != 0 ? facts.parameters : parameter_count(prepared_vocab_));
  constexpr double workspace = 64.0 * (1 << 20);
  const double context = static_cast<double>(model.context);
  return {.fixed_bytes = parameters * parameter + workspace,
          .per_sample_bytes = token * context,
          .optimizer_bytes = parameters * optimizer,
          .blocks = model.layers,
          .block_bytes = (block + dropout + scores) * context,
          .recomputed_block_bytes = 2 * width * element * context};
}

// PaLM's count of a token (arXiv:2204.02311, appendix B): 6 FLOPs a weight that takes part in a
// matrix product, 2 forward and 4 backward, and 12 layers x width x context for attention's scores
// and mixing, counted as a whole square although causal kernels may skip half of it. The weights
// are those of the blocks and the output matrix, tied or not, padding included. Lookups in the
// embeddings, norms, biases, GELU, softmax, dropout and the optimizer count nothing.
std::optional<double> TextOptions::flops_per_sample(const Facts&) const {
  const double vocab = static_cast<double>(model_vocab(prepared_vocab_));
  if (vocab == 0) return std::nullopt;
  const double layers = static_cast<double>(model.layers), width = static_cast<double>(model.width);
  const double context = static_cast<double>(model.context);
  const double block = 4 * width * width + 2 * width * static_cast<double>(model.hidden());
  const double weights = layers * block + vocab * width;
  return context * (6 * weights + 12 * layers * width * context);
}

}  // namespace lockstep::textgen
