// Formulas for the parameters, the memory and the FLOPs of the text model.
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

// The bytes that a rank needs on a GPU with this project's kernels. e is the number of bytes per
// element (4 or 2), W the width, F the hidden size and V the vocabulary.
// - Fixed: weights, gradients and the optimizer's state. The engine reserves 32 MiB for the case
//   that memory runs out. Each workspace of a matrix library takes another 32 MiB: ATen has two,
//   and low precision adds one. In low precision, products that add to a gradient are timed with a
//   scratch result of its size. So the largest weight matrix counts once more, in fp32.
// - A token in a block, for backward: e (8 W + 2 F). These are the inputs and results of both norms
//   (4 W), q, k and v (3 W), the attention's result (W), and the feed-forward part before and after
//   GELU (2 F). In fp32, a block also keeps mean and deviation of both norms and one number per
//   head. Dropout keeps no mask, because backward generates it again. Only attention dropout rules
//   out fused attention. Its probabilities, heads x context per token, are then kept before and
//   after dropout.
// - A token outside the blocks: the last norm's input and result, and the gradient that the loss
//   returns for that result (3 W e). The token and its target are added.
// - Loss: the logits, V e per token, are computed in pieces of at most 1 GiB and turned into
//   gradients in place.
// - Backward: the gradient of one feed-forward layer, F e per token, or of a block's probabilities.
// - Activation recomputation: a block keeps only its inputs, the residual stream and the last
//   branch, 2 W e.
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

// FLOPs per token as PaLM counts them (arXiv:2204.02311, appendix B). Each weight of a matrix
// product counts 6 FLOPs, 2 forward and 4 backward. These weights are those of the blocks and the
// output matrix, with padding, even if the output matrix is tied. Scores and weighted sums of
// attention add 12 x layers x width x context. This counts the whole square, although causal
// kernels may skip half of it. Embedding lookups, norms, biases, GELU, softmax, dropout and the
// optimizer are not counted.
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
