// The encoder of DeBERTa-v3 (He and others, 2021). Its attention also depends on the distances
// between tokens.
#pragma once

#include <vector>

#include "recipes/dimabsa/encoder/encoder.h"
#include "recipes/dimabsa/encoder/layer.h"
#include "recipes/dimabsa/encoder/padded.h"
#include "recipes/dimabsa/encoder/weights.h"

namespace lockstep::dimabsa {

// Linear layers, norms and dropout run over concatenated texts without padding. Attention runs over
// texts that are padded to equal length, with plain ATen operators.
class Deberta : public Encoder {
 public:
  Deberta(const EncoderShape& shape, std::uint64_t seed);

  std::vector<Parameter> parameters() override { return weights_.all(); }
  at::Tensor forward(const EncoderInput& input, const StepContext& context) override;

 private:
  // The inputs that are the same for all layers of a forward pass.
  struct Surroundings {
    EncoderInput input;
    PaddedTexts texts;
    at::Tensor rows;  // i64 [S, T, T]: rows of the embedding of distances
  };
  at::Tensor embed(const EncoderInput& input, const StepContext& context) const;
  at::Tensor table(std::int64_t layer, const at::Tensor& normed, const StepContext& context) const;
  at::Tensor attend(const at::Tensor& packed, const at::Tensor& table, std::int64_t layer,
                    const Surroundings& around, const StepContext& context) const;

  EncoderShape shape_;
  Weights weights_;
  at::Tensor words_, segments_, relative_;
  Affine norm_, relative_norm_;
  std::vector<Layer> layers_;
};

}  // namespace lockstep::dimabsa
