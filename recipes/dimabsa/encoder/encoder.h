// Encoders of the BERT, XLM-R and DeBERTa-v3 kind over texts that lie one behind the other.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "recipes/dimabsa/options/encoder_shape.h"
#include "training/recipe/recipe.h"

namespace lockstep::dimabsa {

// S texts of N tokens together; all on one device.
struct EncoderInput {
  at::Tensor tokens;    // i64 [N]
  at::Tensor segments;  // i64 [N]; undefined: all 0; not read if the model has fewer than two
  // i64 [S + 1]: text s is tokens [offsets[s], offsets[s + 1]); the last is N, so that nothing has
  // to be looked for behind the texts. Tokens of padding are texts of their own.
  at::Tensor offsets;
  // i64 [B + 1]: the same for the rows of the micro-batch. Each row is some whole texts; texts of
  // padding lie behind them. Dropout is drawn by a token's row and its place in it. Only read while
  // training.
  at::Tensor row_offsets;
  // i64 [N], each from 0 to EncoderShape::longest() - 1; undefined: 0, 1, 2, … in every text. A
  // token that is masked is simply left out, and the others keep their positions: nobody sees it,
  // and nothing is computed for it.
  at::Tensor positions;
  std::int64_t longest = 0;  // at least the tokens of every text
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  // Names without a prefix, those of the family in Hugging Face's files.
  virtual std::vector<Parameter> parameters() = 0;
  virtual at::Tensor forward(const EncoderInput& input,
                             const StepContext& context) = 0;  // [N, width]
};

// Fresh weights as BERT draws them: normal with deviation 0.02, zeros, ones; the same for the same
// seed.
std::unique_ptr<Encoder> make_encoder(const EncoderShape& shape, std::uint64_t seed);

// Layers of StepContext::dropout and `uniform` below this number are the encoder's.
std::int64_t encoder_dropout_layers(const EncoderShape& shape);

// Recipe::weight_names for a model that has the encoder's parameters under "encoder.": what files
// of this family call them, "bert.*", "roberta.*", "deberta.*" or without a prefix, with "gamma"
// and "beta" of layer norms too.
std::vector<std::pair<std::string, std::string>> encoder_weight_names(const EncoderShape& shape);
// Tensors in such files that no encoder has, for init.unexpected: pooler, heads of pre-training and
// of tasks, "position_ids".
std::vector<std::string> ignored_weights(const EncoderShape& shape);

}  // namespace lockstep::dimabsa
