// The encoder of BERT (Devlin and others, 2019). It also serves XLM-R (Conneau and others, 2020),
// where the first token does not use row 0 of the position embedding.
#pragma once

#include <vector>

#include "recipes/dimabsa/encoder/encoder.h"
#include "recipes/dimabsa/encoder/layer.h"
#include "recipes/dimabsa/encoder/weights.h"

namespace lockstep::dimabsa {

class Bert : public Encoder {
 public:
  Bert(const EncoderShape& shape, std::uint64_t seed);

  std::vector<Parameter> parameters() override { return weights_.all(); }
  at::Tensor forward(const EncoderInput& input, const StepContext& context) override;

 private:
  at::Tensor embed(const EncoderInput& input, const StepContext& context) const;
  at::Tensor attend(const at::Tensor& packed, const EncoderInput& input, std::int64_t layer,
                    const StepContext& context) const;

  EncoderShape shape_;
  Weights weights_;
  at::Tensor words_, positions_, segments_;
  Affine norm_;
  std::vector<Layer> layers_;
};

}  // namespace lockstep::dimabsa
