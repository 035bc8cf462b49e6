// Implements the engine's interface Recipe for text. The model is a GPT, and the loss is that of
// the next token.
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

// Returns the shape of the model that the options request. vocab: the number of rows of the
// embedding.
GptShape gpt_shape(const TextOptions& options, std::int64_t vocab);

// Reads these keys of Prepared::extra:
//   vocab                       the number of rows of the embedding
//   synthetic                   whether tokens are random, and not from files
//   train, valid                token files
//   train_tokens, valid_tokens  the sizes of these files in tokens
//   bytes                       a token file whose element i is the number of bytes of token i
//   pair_bits_per_byte          the value of the metric of that name; 0: unknown
// Files are opened when they are first needed.
class TextRecipe : public Recipe {
 public:
  TextRecipe(const TextOptions& options, const Prepared& prepared);

  std::unique_ptr<Model> build(std::uint64_t seed) override;
  DatasetPair data() override;
  // The loss has one term, in nats. Its weight is the number of targets of the batch.
  std::vector<double> loss_weights(const Batch& batch) const override;
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override;
  // Returns the records for text_metrics() (metrics.h).
  at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context) override;
  std::vector<Metric> metrics(const Records& records) const override;
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
