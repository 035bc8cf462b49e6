// Parameters and memory of the text model as formulas.
#include <algorithm>

#include "planning/memory/memory.h"
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

// The bytes that a rank holds, on a GPU with our own kernels.
// Fixed: weights, gradients and the optimizer's state; what the engine keeps for a lack of memory,
// 32 MiB, and as much for each workspace of the matrix libraries: two of ATen's, and in low
// precision our own. There products that add to a gradient are also tried out beside it, so the
// largest weight matrix counts once more, in fp32.
// A token of a sample, with e bytes an element (4 or 2), width W, hidden size F, vocabulary V:
//   a block keeps for backward the input of both norms and their results (4 W), q, k, v (3 W), the
//   attention's result (W), the feed-forward part before and after GELU (2 F): e (8 W + 2 F); in
//   fp32 mean and deviation of both norms and a number a head. Dropout draws its mask again. Only
//   attention's own dropout forbids the fused way: its probabilities, heads x context, are kept
//   before and after;
//   the last norm's input and result, and the gradient that the loss makes of it: 3 W e; the token
//   and its target.
// The loss makes its logits, V e, in pieces of 1 GiB at most, and turns them into gradients in
// place. Backward begins with the gradient of one F e, or of a block's probabilities. A block that
// backward computes again keeps its inputs only: the stream and the last branch, 2 W e.
MemoryEstimate TextOptions::memory(const TrainOptions& train, const Facts& facts) const {
  const bool low = train.precision != Precision::fp32;
  const double element = low ? 2 : 4;
  const double optimizer = optimizer_bytes_per_parameter(train);
  const double parameter = weight_bytes_per_parameter(train) + optimizer;
  const double width = static_cast<double>(model.width);
  const double hidden = static_cast<double>(model.hidden());
  const double heads = static_cast<double>(model.heads);
  const double context = static_cast<double>(model.context);
  const double scores = model.attention_dropout > 0 ? element * heads * context : 0;
  const double block = element * (8 * width + 2 * hidden) + 16 + 4 * heads + 2 * scores;
  const double ends = 3 * width * element + 32;
  const double vocab =
      static_cast<double>(std::max<std::int64_t>(256, model_vocab(prepared_vocab_)));
  const double parameters = static_cast<double>(
      facts.parameters != 0 ? facts.parameters : parameter_count(prepared_vocab_));
  constexpr double mib = 1024 * 1024, loss_piece = 1024 * mib;
  const double workspaces = 32 * mib * (low ? 4 : 3);
  const double tried_out = low ? 4 * width * std::max({vocab, hidden, 3 * width}) : 0;
  return {.fixed_bytes = parameters * parameter + workspaces + tried_out,
          .per_sample_bytes = (static_cast<double>(model.layers) * block + ends) * context,
          .optimizer_bytes = parameters * optimizer,
          .blocks = model.layers,
          .block_bytes = block * context,
          .recomputed_block_bytes = 2 * width * element * context,
          .loss_bytes = vocab * element * context,
          .loss_piece_bytes = loss_piece,
          .backward_bytes = std::max(element * hidden, scores) * context};
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
