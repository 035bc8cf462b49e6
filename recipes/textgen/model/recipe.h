// The text recipe as the engine sees it: a GPT, blocks of tokens, next-token loss, generated text.
#pragma once

#include "recipes/textgen/model/gpt.h"
#include "recipes/textgen/model/predict.h"
#include "recipes/textgen/options/text_options.h"
#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::textgen {

// The model that the options request, with this many rows of the embedding.
GptShape gpt_shape(const TextOptions& options, std::int64_t vocab);

// Reads from Prepared::extra: vocab, synthetic, train and valid (token files), train_tokens,
// valid_tokens, bytes (a token file with the bytes of each token), pair_bits_per_byte (0 =
// unknown). Files are opened when they are first needed.
class TextRecipe : public Recipe {
 public:
  TextRecipe(const TextOptions& options, const Prepared& prepared);

  std::unique_ptr<Model> build(std::uint64_t seed) override;
  DatasetPair data() override;
  // The loss has one term, in nats; its weight is the number of targets.
  std::vector<double> loss_weights(const Batch& batch) const override;
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override;
  // Records {nats, targets, bytes of the targets}.
  at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context) override;
  std::vector<Metric> metrics(const Records& records) const override;
  // See predict.h.
  void predict(Model& model, const PredictRequest& request) override;
  std::string smaller_sample() const override;

 private:
  std::shared_ptr<const Dataset> dataset(const std::string& name, std::uint64_t number) const;
  const at::Tensor& bytes_of_tokens(at::Device device);

  nlohmann::json extra_;
  GptShape shape_;
  bool shifting_, synthetic_;
  SampleSettings sample_;
  at::Tensor bytes_;  // f64 [vocab]
};

}  // namespace lockstep::textgen
