// Encoders of the BERT, XLM-R and DeBERTa-v3 kind over texts that lie one behind the other.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/recipe.h"
#include "recipes/dimabsa/options/encoder_shape.h"

namespace lockstep::dimabsa {

// S texts of N tokens together; all on one device.
struct EncoderInput {
  at::Tensor tokens;    // i64 [N]
  at::Tensor segments;  // i64 [N]; undefined: all 0
  // i64 [S + 1]: text s is tokens [offsets[s], offsets[s + 1]). Tokens from the last on belong to
  // no text: their results mean nothing and have no gradient.
  at::Tensor offsets;
  // i64 [B + 1]: the same for the rows of the micro-batch, each of which is some whole texts.
  // Dropout is drawn by a token's row and its place in it.
  at::Tensor row_offsets;
  // bool [N]; undefined: all. Tokens that are false are seen by no other.
  at::Tensor seen;
  std::int64_t longest = 0;  // at least the length of every text
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  // Names without a prefix, those of the family in Hugging Face's files where it can be.
  virtual std::vector<NamedTensor> parameters() = 0;
  virtual at::Tensor forward(const EncoderInput& input,
                             const StepContext& context) = 0;  // [N, width]
};

// Fresh weights as BERT draws them: normal with deviation 0.02, zeros, ones; the same for the same
// seed.
std::unique_ptr<Encoder> make_encoder(const EncoderShape& shape, std::uint64_t seed);

// Recipe::weight_names for a model that has the encoder's parameters under "encoder.": what files
// of this family call them, "bert.*", "roberta.*" or without a prefix.
std::vector<std::pair<std::string, std::string>> encoder_weight_names(const EncoderShape& shape);
// Tensors in such files that no encoder has, for init.unexpected: pooler, heads of pre-training,
// "position_ids".
std::vector<std::string> ignored_weights(const EncoderShape& shape);

}  // namespace lockstep::dimabsa
