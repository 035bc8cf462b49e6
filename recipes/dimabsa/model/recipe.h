// Implements the engine's interface Recipe for dimensional aspect-based sentiment analysis
// (DimABSA).
#pragma once

#include "recipes/dimabsa/model/dataset.h"
#include "recipes/dimabsa/model/find_tuples.h"
#include "recipes/dimabsa/model/net.h"
#include "recipes/dimabsa/options/dimabsa_options.h"
#include "recipes/dimabsa/options/encoded.h"
#include "recipes/dimabsa/sentences/scores/score.h"
#include "training/recipe/recipe.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::dimabsa {

class DimabsaRecipe : public Recipe {
 public:
  DimabsaRecipe(const DimabsaOptions& options, const Prepared& prepared);

  std::unique_ptr<Model> build(std::uint64_t seed) override;
  // Loads the weights of model.path into the encoder, if model.path is set. The heads keep their
  // random weights.
  void initialise(Model& model) override;
  DatasetPair data() override;
  std::vector<std::pair<std::string, std::string>> weight_names() const override;
  std::vector<std::string> terms() const override;
  std::vector<double> loss_weights(const Batch& batch) const override;
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override;

  std::vector<at::Tensor> evaluate_items(Model& model, const Batch& batch,
                                         StepContext& context) override;
  std::vector<Metric> metrics(const Records& records) const override;
  ItemTable items(const Records& records, EvaluationOutput& output) const override;

  std::vector<ItemOutput> predict_items(Model& model, const std::vector<PredictItem>& items,
                                        const ItemContext& context) override;
  std::unique_ptr<PredictionWriter> prediction_writer(JointOutputs& outputs) override;

 private:
  // Returns the sentences that are evaluated, with their gold tuples and the tuples that were
  // found.
  Aligned aligned(const Records& records) const;

  Task task_;
  NetShape shape_;
  std::vector<std::string> categories_;
  SampleOptions samples_;
  FinderOptions finder_;
  std::string train_, valid_;
  std::vector<std::string> prediction_files_;
  std::string submission_;
  nlohmann::json weights_;  // JSON of the WeightSource of model.path; null without model.path
  // The mean valence and arousal of the training tuples. Older runs did not record it, so there may
  // be no value.
  std::optional<ValenceArousal> mean_;
  std::string evaluated_;  // file to evaluate; empty: the run's validation data
  std::vector<EncodedSentence> valid_sentences_;
};

}  // namespace lockstep::dimabsa
