// The network of the dimabsa recipe: an encoder with linear heads.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "recipes/dimabsa/encoder/encoder.h"
#include "recipes/dimabsa/sentences/sentence.h"
#include "training/recipe/recipe.h"

namespace lockstep::dimabsa {

struct NetShape {
  EncoderShape encoder;
  Task task = Task::triplets;
  std::int64_t categories = 0;
  double encoder_rate = 1;  // multiplies Parameter::lr_scale of the encoder
  // Whether training begins from random weights, and not from a file. The matrices of the layers
  // then get the standard deviation 1 / sqrt(W), where W is the encoder's width. The usual 0.02 is
  // for wide models. In a narrow model, it would make attention nearly uniform. The key matrices
  // are copies of the query matrices, so tokens first attend to similar tokens.
  bool from_nothing = false;
};

// The heads are linear layers on the last hidden states, without dropout. Heads that the task does
// not need are absent. The weights of heads are drawn from the seed, with the distribution of
// torch.nn.Linear. W is the encoder's width. The weights are:
//   heads.span              [16, W]: for each of the first 4 members of Pass, start and end, with
//                           two logits each (no, yes)
//   heads.category          [categories, W], applied to the first token of a text
//   heads.valence_arousal   [2, W], applied to the first token of a text
class Net : public Model {
 public:
  Net(const NetShape& shape, std::uint64_t seed);
  std::vector<Parameter> parameters() override;
  const NetShape& shape() const { return shape_; }

  at::Tensor hidden(const EncoderInput& input, const StepContext& context) const;  // [N, W]
  // Returns [N, 4, 2, 2] in the dtype of the forward pass. The dimensions are: token, pass, start
  // or end, and no or yes.
  at::Tensor span_logits(const at::Tensor& hidden) const;
  // category_logits returns the logits [S, categories], and valence_arousal returns both values
  // [S, 2]. Both read the hidden states at `rows`, i64 [S], and also return all hidden states. The
  // next operation must read these returned hidden states. Backward then sums the gradients of both
  // operations.
  using Answer = std::tuple<at::Tensor, at::Tensor>;
  Answer category_logits(const at::Tensor& hidden, const at::Tensor& rows) const;
  Answer valence_arousal(const at::Tensor& hidden, const at::Tensor& rows) const;

 private:
  struct Head {
    at::Tensor weight, bias;  // undefined if the head is absent
  };
  Head make_head(const char* name, std::int64_t outputs, std::uint64_t seed);

  NetShape shape_;
  std::unique_ptr<Encoder> encoder_;
  std::vector<Parameter> head_parameters_;
  Head span_, category_, valence_arousal_;
};

}  // namespace lockstep::dimabsa
