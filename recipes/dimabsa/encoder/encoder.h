// The interface of text encoders: BERT, XLM-R and DeBERTa-v3. The texts of a batch are
// concatenated, without padding to equal lengths.
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

// S texts, which have N tokens together. All tensors are on one device.
struct EncoderInput {
  at::Tensor tokens;  // i64 [N]
  // i64 [N]: token types, the rows of the segment embedding. If undefined, all token types are 0.
  // This tensor is not read if the model has fewer than two token types.
  at::Tensor segments;
  // i64 [S + 1]: text s has tokens [offsets[s], offsets[s + 1]). The last offset is N, so every
  // token is in a text. Padding tokens form texts of their own.
  at::Tensor offsets;
  // i64 [B + 1]: row b of the micro-batch has tokens [row_offsets[b], row_offsets[b + 1]). A row
  // consists of whole texts. Texts of padding come after all rows. The dropout mask of a token
  // depends on its row and on its position in the row. This tensor is only read in training.
  at::Tensor row_offsets;
  // i64 [N]: positions, each from 0 to EncoderShape::longest() - 1. If undefined, they are 0, 1, 2,
  // … in every text. To mask a token, leave it out of `tokens`, and keep the positions of the other
  // tokens. Then no token attends to it, and nothing is computed for it.
  at::Tensor positions;
  std::int64_t longest = 0;  // no text has more tokens than this
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  // Returns parameters with the names in Hugging Face's files of this model family, but without the
  // prefix of the family.
  virtual std::vector<Parameter> parameters() = 0;
  virtual at::Tensor forward(const EncoderInput& input,
                             const StepContext& context) = 0;  // returns [N, width]
};

// Makes an encoder with random weights, as in BERT. Matrices and embeddings are drawn from a normal
// distribution with standard deviation 0.02. Biases are 0, and weights of norms are 1. The same
// seed gives the same weights.
std::unique_ptr<Encoder> make_encoder(const EncoderShape& shape, std::uint64_t seed);

// Returns the number of values of `layer` that the encoder passes to StepContext::dropout and
// dropout_draw. The values begin at 0.
std::int64_t encoder_dropout_layers(const EncoderShape& shape);

// Returns the value of Recipe::weight_names for a model whose encoder parameters have the prefix
// "encoder.". In Hugging Face's files, the prefix is "bert.", "roberta." or "deberta.", or there is
// none. Layer norms may have "gamma" and "beta" instead of "weight" and "bias".
std::vector<std::pair<std::string, std::string>> encoder_weight_names(const EncoderShape& shape);
// Returns the names of tensors that such files may have, but that the encoder does not use. The
// option init.unexpected gets these names. The tensors are the pooler, the heads of pre-training
// and of tasks, and "position_ids".
std::vector<std::string> ignored_weights(const EncoderShape& shape);

}  // namespace lockstep::dimabsa
