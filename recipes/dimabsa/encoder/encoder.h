// Encoders of the BERT, XLM-R and DeBERTa-v3 kind. Texts lie one behind the other, without padding.
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

// S texts of N tokens together. All tensors are on one device.
struct EncoderInput {
  at::Tensor tokens;  // i64 [N]
  // i64 [N]; undefined: all 0; not read if the model has fewer than two segments
  at::Tensor segments;
  // i64 [S + 1]: text s is tokens [offsets[s], offsets[s + 1]). The last offset is N, so every
  // token is in a text. Tokens of padding form texts of their own.
  at::Tensor offsets;
  // i64 [B + 1]: the same for the rows of the micro-batch. Each row consists of some whole texts.
  // Texts of padding lie behind the rows. Dropout is drawn by a token's row and its place in the
  // row. Only read while training.
  at::Tensor row_offsets;
  // i64 [N], each from 0 to EncoderShape::longest() - 1; undefined: 0, 1, 2, … in every text. A
  // masked token is simply left out, and the others keep their positions. So no token attends to
  // it, and nothing is computed for it.
  at::Tensor positions;
  std::int64_t longest = 0;  // no text has more tokens than this
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  // Names without a prefix, as this family has them in Hugging Face's files.
  virtual std::vector<Parameter> parameters() = 0;
  virtual at::Tensor forward(const EncoderInput& input,
                             const StepContext& context) = 0;  // [N, width]
};

// Fresh weights as BERT draws them: normal with deviation 0.02, zeros, or ones. The same seed gives
// the same weights.
std::unique_ptr<Encoder> make_encoder(const EncoderShape& shape, std::uint64_t seed);

// The encoder uses the numbers below this one as layers of StepContext::dropout and `uniform`.
std::int64_t encoder_dropout_layers(const EncoderShape& shape);

// Recipe::weight_names for a model that has the encoder's parameters under "encoder.". Files of
// this family call them "bert.*", "roberta.*" or "deberta.*", or use no prefix. Layer norms may
// also have "gamma" and "beta" there.
std::vector<std::pair<std::string, std::string>> encoder_weight_names(const EncoderShape& shape);
// Tensors that such files may have and no encoder uses, for init.unexpected: the pooler, heads of
// pre-training and of tasks, "position_ids".
std::vector<std::string> ignored_weights(const EncoderShape& shape);

}  // namespace lockstep::dimabsa
