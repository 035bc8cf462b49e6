// Implements the engine's interface Recipe for the segmentation of volumes.
#pragma once

#include "recipes/volume/model/evaluation.h"
#include "recipes/volume/model/input.h"
#include "recipes/volume/model/loss.h"
#include "recipes/volume/model/net.h"
#include "recipes/volume/model/patches.h"
#include "recipes/volume/model/tiles.h"
#include "recipes/volume/options/volume_options.h"
#include "recipes/volume/voxels/value_range.h"
#include "recipes/volume/voxels/voxels.h"
#include "training/recipe/recipe.h"

#include <memory>
#include <string>
#include <vector>

namespace lockstep::volume {

class VolumeRecipe : public Recipe {
 public:
  VolumeRecipe(const VolumeOptions& options, const Prepared& prepared);

  std::unique_ptr<Model> build(std::uint64_t seed) override;
  DatasetPair data() override;
  std::vector<std::string> terms() const override { return {"dice", "focal", "bce"}; }
  std::vector<double> loss_weights(const Batch& batch) const override;
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override;

  std::vector<at::Tensor> evaluate_items(Model& model, const Batch& batch,
                                         StepContext& context) override;
  // The engine splits a volume into pieces, which are ranges of planes. Each device computes the
  // mask of one piece.
  bool evaluates_pieces() const override { return true; }
  at::Tensor evaluate_piece(Model& model, const Batch& sample, ItemPiece piece,
                            StepContext& context) override;
  at::Tensor join_evaluated(const Batch& sample, const std::vector<at::Tensor>& pieces,
                            StepContext& context) override;
  std::vector<Metric> metrics(const Records& records) const override;
  ItemTable items(const Records& records, EvaluationOutput& output) const override;

  ItemOutput predict_item(Model& model, const PredictItem& item,
                          const ItemContext& context) override;
  ItemOutput predict_piece(Model& model, const PredictItem& item, ItemPiece piece,
                           const ItemContext& context) override;
  ItemOutput join_pieces(const PredictItem& item, const std::vector<ItemOutput>& pieces,
                         const ItemContext& context) override;
  std::unique_ptr<PredictionWriter> prediction_writer(JointOutputs& outputs) override;
  std::string smaller_sample() const override;

 private:
  TileOptions tiles(at::Device device, at::ScalarType type) const;
  // Clears components that are smaller than predict.min_component. mask: u8 [D, H, W] on the CPU.
  void remove_small(at::Tensor& mask) const;
  // Opens the item's volume. Throws Error if the model cannot process this volume.
  std::unique_ptr<VolumeReader> open_for(const PredictItem& item) const;
  RowRange piece_planes(const VolumeShape& shape, ItemPiece piece,
                        const ItemContext& context) const;
  // Returns the shape in which the model processes a volume with this header. If the model has a
  // fixed spacing, it is the shape after resampling.
  VolumeShape model_shape(const VolumeHeader& header) const;
  // Returns the probabilities of planes `rows`, in the shape of model_shape(): f32
  // [outputs, rows, H, W] on the CPU. warning: receives the text for ItemOutput::warning.
  at::Tensor probabilities_of(Model& model, Voxels voxels, RowRange rows,
                              const ItemContext& context, std::string& warning) const;
  // found: the probabilities of the whole volume, in the shape of model_shape().
  ItemOutput output_of(const PredictItem& item, const VolumeHeader& source, const at::Tensor& found,
                       const ItemContext& context) const;
  const MappedVolume& volume_of(const at::Tensor& index) const;
  // Returns the mask of planes `rows`: u8 [rows, H, W] on the CPU.
  at::Tensor mask_of(const Net& net, const MappedVolume& volume, RowRange rows,
                     const StepContext& context) const;
  // Returns the record of a volume, and makes its picture. mask: the mask of all planes, from which
  // small components are removed first.
  at::Tensor record_of(const MappedVolume& volume, at::Tensor mask, StepContext& context) const;

  NetShape shape_;
  Normalization normalization_;
  ValueRange training_values_;
  std::string volumes_;  // the file of PreparedVolumes; empty if no data were prepared
  PatchOptions patch_;
  ValueAugment values_;
  LossOptions loss_;
  TileOptions tiles_;
  EvaluationOptions evaluation_;
  std::optional<std::array<double, 3>> spacing_;
  ReadVolume read_;
  double threshold_ = 0.5;
  std::int64_t min_component_ = 0;
  bool probabilities_ = false;
  std::string submission_;
  std::vector<MappedVolume> valid_;
};

}  // namespace lockstep::volume
