// The encoder and its heads.
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
  double encoder_rate = 1;  // Parameter::lr_scale of the encoder
  // True: no weights will come from a file. The layers' matrices then get the deviation 1 /
  // sqrt(W). The usual 0.02 is for wide models, and would make the attention of a narrow one flat.
  // Keys begin equal to queries.
  bool from_nothing = false;
};

// Linear heads on the last hidden states, without dropout. heads.span [16, W] gives the starts and
// ends for each pass that marks spans (two logits each: no, yes). heads.category [categories, W]
// and heads.valence_arousal [2, W] are applied to a text's first token. Heads that the task does
// not need are absent. They are drawn from the seed, as torch.nn.Linear draws.
class Net : public Model {
 public:
  Net(const NetShape& shape, std::uint64_t seed);
  std::vector<Parameter> parameters() override;
  const NetShape& shape() const { return shape_; }

  at::Tensor hidden(const EncoderInput& input, const StepContext& context) const;  // [N, W]
  // [N, 4, 2, 2]: pass, start or end, no or yes. In the dtype of the forward pass.
  at::Tensor span_logits(const at::Tensor& hidden) const;
  // The answers at the rows `first` of hidden states: [S, categories] and [S, 2]. Also returns
  // `hidden`, for other operations that read it.
  using Answer = std::tuple<at::Tensor, at::Tensor>;
  Answer category_logits(const at::Tensor& hidden, const at::Tensor& rows) const;
  Answer valence_arousal(const at::Tensor& hidden, const at::Tensor& rows) const;

 private:
  struct Head {
    at::Tensor weight, bias;  // undefined if the task does not need the head
  };
  Head make_head(const char* name, std::int64_t outputs, std::uint64_t seed);

  NetShape shape_;
  std::unique_ptr<Encoder> encoder_;
  std::vector<Parameter> head_parameters_;
  Head span_, category_, valence_arousal_;
};

}  // namespace lockstep::dimabsa
