// Writes the logits of a textgen checkpoint for fixed tokens: dump-logits MODEL.safetensors VOCAB
// WIDTH LAYERS HEADS CONTEXT OUT. OUT: f32 [2, CONTEXT, VOCAB], raw. Tokens: (7 i + 3 i^2) mod
// VOCAB.
#include "recipes/textgen/model/gpt.h"
#include "training/checkpoint/tensor_file.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

int main(int argc, char** argv) {
  using namespace lockstep;
  if (argc != 8) return 2;
  const at::NoGradGuard no_grad;
  const auto number = [&](int i) { return static_cast<std::int64_t>(std::atoll(argv[i])); };
  textgen::GptShape shape{.vocab = number(2),
                          .width = number(3),
                          .layers = number(4),
                          .heads = number(5),
                          .feed_forward = 4 * number(3),
                          .context = number(6),
                          .bias = false,
                          .tanh_gelu = false};
  textgen::Gpt model(shape, 0);
  const auto tensors = map_tensors(argv[1]);
  for (const Parameter& parameter : model.parameters()) {
    at::Tensor target = parameter.tensor;
    target.copy_(tensors.at(parameter.name));
  }
  at::Tensor tokens = at::empty({2, shape.context}, at::kLong);
  auto* values = tokens.mutable_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < tokens.numel(); ++i) values[i] = (7 * i + 3 * i * i) % shape.vocab;
  StepContext context;
  context.training = false;
  const at::Tensor logits = model.logits(model.hidden(tokens, context)).contiguous();
  std::ofstream out(argv[7], std::ios::binary);
  out.write(static_cast<const char*>(logits.const_data_ptr()),
            static_cast<std::streamsize>(logits.nbytes()));
  return out ? 0 : 1;
}
