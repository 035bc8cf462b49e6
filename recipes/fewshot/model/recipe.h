// Implements the engine's Recipe interface for the fewshot recipe.
#pragma once

#include "recipes/fewshot/metrics/detection_picture.h"
#include "recipes/fewshot/metrics/episode_scores.h"
#include "recipes/fewshot/model/episode_data.h"
#include "recipes/fewshot/model/net.h"
#include "recipes/fewshot/model/regions.h"
#include "recipes/fewshot/options/fewshot_options.h"
#include "training/recipe/nn_model.h"
#include "training/recipe/recipe.h"

#include <memory>
#include <string>
#include <vector>

namespace lockstep::fewshot {

class FewshotRecipe : public Recipe {
 public:
  FewshotRecipe(const FewshotOptions& options, const Prepared& prepared);

  std::unique_ptr<Model> build(std::uint64_t seed) override;
  DatasetPair data() override;
  // Maps the names of torchvision's and timm's weights to those of the trunk, with or without
  // DataParallel's prefix. Weights of the fourth stage and of the classifier are ignored.
  std::vector<std::pair<std::string, std::string>> weight_names() const override;
  std::vector<std::string> terms() const override {
    return {"proposals", "proposal_boxes", "classes", "boxes"};
  }
  std::vector<double> loss_weights(const Batch& batch) const override;
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override;
  // Returns for each row of the batch the D detections of its episode, flattened to f64 [D * 7].
  // The columns are the query's index in the episode, the label of the class, x, y, width and
  // height in pixels of the picture, and the score.
  std::vector<at::Tensor> evaluate_items(Model& model, const Batch& batch,
                                         StepContext& context) override;
  std::vector<Metric> metrics(const Records& records) const override;
  ItemTable items(const Records& records, EvaluationOutput& output) const override;
  std::vector<ItemOutput> predict_items(Model& model, const std::vector<PredictItem>& items,
                                        const ItemContext& context) override;
  std::unique_ptr<PredictionWriter> prediction_writer(JointOutputs& outputs) override;
  std::string smaller_sample() const override { return options_.smaller_episode(); }

 private:
  // Returns the D detections in queries, f32 [D, 7] on the CPU. The columns are those of
  // evaluate_items, but boxes are in pixels of the scaled query.
  at::Tensor detect(DetectorImpl& net, const at::Tensor& queries, const ClassCodes& codes,
                    const StepContext& context) const;
  ClassCodes codes_of(DetectorImpl& net, const at::Tensor& supports, const at::Tensor& boxes,
                      std::int64_t classes, const StepContext& context) const;
  // Returns the loss terms of the episode in `row` of a batch.
  std::vector<at::Tensor> loss_of(DetectorImpl& net, const Batch& batch, std::int64_t row,
                                  const StepContext& context);
  std::size_t groups_in(const Records& records) const;
  std::vector<std::size_t> novel_groups_first(const Records& records) const;
  // Returns the episodes of one group with their detections, for score_episodes.
  std::vector<ScoredEpisode> scored(const Records& records, std::size_t group) const;
  EpisodeScores scores(const Records& records, std::size_t group) const;
  std::string group_title(std::size_t group) const;
  std::vector<NamedClass> named_classes() const;
  std::string episode_picture(const Episode& episode, const at::Tensor& found) const;
  void read_supports_of(DetectorImpl& net, const ItemContext& context);
  bool is_stored(const PredictItem& item, const ItemContext& context) const;

  const FewshotOptions& options_;
  DetectorShape shape_;
  mutable Anchors anchors_;
  nlohmann::json extra_;
  std::shared_ptr<const EpisodeSource> source_;
  std::vector<EvaluationGroup> groups_;
  // For prediction: the supports and their classes, set when the first items are predicted.
  std::vector<SupportCrops> crops_;
  ClassCodes codes_;
  std::vector<NamedClass> wanted_;
};

}  // namespace lockstep::fewshot
