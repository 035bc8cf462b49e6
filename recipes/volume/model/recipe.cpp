#include "recipes/volume/model/recipe.h"

#include "core/base/text/text.h"
#include "recipes/volume/metrics/components.h"
#include "recipes/volume/model/picture.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lockstep::volume {
namespace {

const Net& net_of(const Model& model) { return dynamic_cast<const Net&>(model); }

PatchOptions patch_options(const VolumeOptions& options) {
  return {.size = options.patch(),
          .per_volume = options.data.patches,
          .positive = options.data.positive,
          .ignore = static_cast<int>(options.data.ignore),
          .type = VoxelType::u8,
          .turn = {.flip = options.augment.flip, .rotate90 = options.augment.rotate90},
          .warp = {.rotate = options.augment.rotate,
                   .scale = options.augment.scale,
                   .elastic = options.augment.elastic}};
}

// Copies planes of a mapped volume into a tensor.
at::Tensor planes_of(const CachedVolume& volume, std::int64_t begin, std::int64_t end) {
  const VolumeShape& shape = volume.shape();
  const std::int64_t plane = shape.height * shape.width;
  const auto type = volume.header().type;
  at::Tensor planes = at::empty({shape.channels, end - begin, shape.height, shape.width},
                                type == VoxelType::u8 ? at::kByte : at::kFloat);
  const auto copy = [&]<class From, class To>(const From* from, To* to) {
    for (std::int64_t c = 0; c < shape.channels; ++c, to += (end - begin) * plane)
      std::copy_n(from + (c * shape.depth + begin) * plane, (end - begin) * plane, to);
  };
  const std::byte* stored = volume.image().data();
  if (type == VoxelType::u8)
    copy(reinterpret_cast<const std::uint8_t*>(stored), planes.mutable_data_ptr<std::uint8_t>());
  else if (type == VoxelType::u16)
    copy(reinterpret_cast<const std::uint16_t*>(stored), planes.mutable_data_ptr<float>());
  else
    copy(reinterpret_cast<const float*>(stored), planes.mutable_data_ptr<float>());
  return planes;
}

std::span<const std::uint8_t> bytes_of(const at::Tensor& labels) {
  return {labels.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(labels.numel())};
}

std::vector<VolumeRecord> records_of(const Records& records) {
  std::vector<VolumeRecord> all;
  for (std::int64_t i = 0; i < records.size(); ++i) all.push_back(record_from(records[i]));
  return all;
}

}  // namespace

VolumeRecipe::VolumeRecipe(const VolumeOptions& options, const Prepared& prepared)
    : shape_(options.net(
          prepared.extra.value("channels", std::max<std::int64_t>(1, options.data.channels)))),
      volumes_(prepared.extra.value("volumes", "")),
      patch_(patch_options(options)),
      values_{.brightness = options.augment.brightness,
              .contrast = options.augment.contrast,
              .gamma = options.augment.gamma,
              .noise = options.augment.noise},
      loss_{.dice = options.loss.dice,
            .focal = options.loss.focal,
            .bce = options.loss.bce,
            .focal_alpha = options.loss.focal_alpha,
            .focal_gamma = options.loss.focal_gamma},
      tiles_{.window = options.patch(),
             .overlap = options.predict.overlap,
             .weights = options.predict.weights == TileWeights::uniform ? WindowWeights::uniform
                                                                        : WindowWeights::gaussian,
             .batch = options.predict.batch,
             .flips = options.predict.flips},
      evaluation_{.classes = options.data.classes,
                  .ignore = options.ignore(),
                  .topology = options.scoring.topology && options.data.classes == 1,
                  .tolerance = options.scoring.tolerance,
                  .tolerance_mm = options.scoring.unit == ToleranceUnit::mm},
      spacing_(options.spacing()),
      read_(options.read_volume()),
      threshold_(options.predict.threshold),
      min_component_(options.predict.min_component),
      probabilities_(options.predict.save == Save::probabilities),
      submission_(options.predict.submission) {
  if (prepared.extra.contains("normalization"))
    normalization_ = normalization_from_json(prepared.extra.at("normalization"));
  training_values_ = value_range_from_json(prepared.extra.value("values", nlohmann::json()));
}

std::unique_ptr<Model> VolumeRecipe::build(std::uint64_t seed) {
  return std::make_unique<Net>(shape_, seed);
}

DatasetPair VolumeRecipe::data() {
  const PreparedVolumes volumes = read_prepared(volumes_);
  normalization_ = volumes.normalization;
  patch_.type = volumes.type == VoxelType::u8 ? VoxelType::u8 : VoxelType::f32;
  valid_ = map_volumes(volumes.valid, normalization_);
  DatasetPair pair{
      .train = std::make_shared<Patches>(map_volumes(volumes.train, normalization_), patch_),
      .valid = nullptr};
  if (!valid_.empty()) pair.valid = std::make_shared<WholeVolumes>(std::ssize(valid_));
  return pair;
}

std::vector<double> VolumeRecipe::loss_weights(const Batch& batch) const {
  return segmentation_weights(batch.tensors.at(1), batch.row_weight);
}

std::vector<at::Tensor> VolumeRecipe::loss(Model& model, const Batch& batch, StepContext& context) {
  const at::Tensor x =
      augmented(normalised(batch.tensors.at(0), batch.tensors.at(2)), values_, context);
  const std::vector<at::Tensor> levels =
      net_of(model).logits(network_input(x, context.compute_dtype), context);
  std::vector<at::Tensor> sums(3);
  double weights = 0;
  for (std::size_t level = 0; level < levels.size(); ++level)
    weights += std::ldexp(1.0, -static_cast<int>(level));
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const auto coarse = static_cast<int>(level);
    const std::array<at::Tensor, 3> found = segmentation_loss(
        levels[level], coarser_labels(batch.tensors.at(1), coarse), batch.row_weight, loss_);
    for (std::size_t term = 0; term < 3; ++term) {
      // In terms that count voxels, a coarse voxel has the weight of 8^level fine voxels.
      const double factor = std::ldexp(1.0, (term == 0 ? 0 : 3 * coarse) - coarse) / weights;
      const at::Tensor part = factor == 1 ? found[term] : found[term].mul(factor);
      sums[term] = level == 0 ? part : sums[term].add(part);
    }
  }
  return sums;
}

TileOptions VolumeRecipe::tiles(at::Device device, at::ScalarType type) const {
  TileOptions options = tiles_;
  options.device = device;
  options.type = type;
  if (options.batch == 0) options.batch = device.is_cuda() ? 16 : 1;
  return options;
}

void VolumeRecipe::remove_small(at::Tensor& mask) const {
  if (min_component_ <= 1) return;
  const Shape shape{mask.size(0), mask.size(1), mask.size(2)};
  const std::span<std::uint8_t> labels{mask.mutable_data_ptr<std::uint8_t>(),
                                       static_cast<std::size_t>(mask.numel())};
  const std::int64_t classes = std::max<std::int64_t>(2, evaluation_.classes);
  for (std::int64_t c = 1; c < classes; ++c)
    remove_small_components(labels, shape, static_cast<std::uint8_t>(c), min_component_,
                            Connectivity::corners_26);
}

const MappedVolume& VolumeRecipe::volume_of(const at::Tensor& index) const {
  return valid_.at(static_cast<std::size_t>(index.item<std::int64_t>()));
}

at::Tensor VolumeRecipe::mask_of(const Net& net, const MappedVolume& volume, RowRange rows,
                                 const StepContext& context) const {
  const VolumeEntry& entry = volume.entry;
  const VolumeShape& shape = volume.voxels->shape();
  at::Tensor mask = at::empty({rows.end - rows.begin, shape.height, shape.width}, at::kByte);
  for_probabilities(
      {{&net, normals_tensor(volume.normals)}}, tiles(context.device, context.compute_dtype),
      {.extents = {entry.end - entry.begin, shape.height, shape.width},
       .rows = rows,
       .read =
           [&](RowRange wanted) {
             return planes_of(*volume.voxels, entry.begin + wanted.begin, entry.begin + wanted.end);
           }},
      [&](RowRange done, const at::Tensor& values) {
        mask.slice(0, done.begin - rows.begin, done.end - rows.begin)
            .copy_(labels_of(values, threshold_));
      });
  return mask;
}

at::Tensor VolumeRecipe::record_of(const MappedVolume& volume, at::Tensor mask,
                                   StepContext& context) const {
  const VolumeEntry& entry = volume.entry;
  const VolumeShape& shape = volume.voxels->shape();
  const std::int64_t plane = shape.height * shape.width, depth = entry.end - entry.begin;
  remove_small(mask);
  const Shape extents{depth, shape.height, shape.width};
  const std::span<const std::uint8_t> truth = volume.voxels->labels().subspan(
      static_cast<std::size_t>(entry.begin * plane), static_cast<std::size_t>(depth * plane));
  const Spacing& spacing = volume.voxels->header().spacing_mm;
  const VolumeRecord record = evaluate_volume(truth, bytes_of(mask), extents, spacing, evaluation_);
  if (context.output != nullptr)
    context.output->picture(entry.id, "png", [&] {
      const at::Tensor values = planes_of(*volume.voxels, entry.begin, entry.end)
                                    .select(0, 0)
                                    .to(at::kFloat)
                                    .contiguous();
      const ChannelStatistics& known = volume.voxels->header().channels.front();
      return three_planes(
          {.shape = extents,
           .spacing = spacing,
           .values = {values.const_data_ptr<float>(), static_cast<std::size_t>(values.numel())},
           .low = static_cast<float>(known.low),
           .high = static_cast<float>(known.high),
           .truth = truth,
           .predicted = bytes_of(mask),
           .no_label = static_cast<std::uint8_t>(evaluation_.ignore.value_or(no_label)),
           .title = cat(entry.id, ": Dice ", fixed(record.dice(), 3))});
    });
  return to_tensor(record);
}

std::vector<at::Tensor> VolumeRecipe::evaluate_items(Model& model, const Batch& batch,
                                                     StepContext& context) {
  const at::Tensor index = batch.tensors.at(0).cpu(), weight = batch.row_weight.cpu();
  std::vector<at::Tensor> records;
  for (std::int64_t row = 0; row < batch.size(); ++row) {
    if (weight[row].item<float>() == 0) {
      records.push_back(at::zeros({1}, at::kDouble));
      continue;
    }
    const MappedVolume& volume = volume_of(index[row]);
    const RowRange all{0, volume.entry.end - volume.entry.begin};
    records.push_back(record_of(volume, mask_of(net_of(model), volume, all, context), context));
  }
  return records;
}

at::Tensor VolumeRecipe::evaluate_piece(Model& model, const Batch& sample, ItemPiece piece,
                                        StepContext& context) {
  const MappedVolume& volume = volume_of(sample.tensors.at(0)[0]);
  const VolumeShape& shape = volume.voxels->shape();
  const RowRange rows = planes_of_piece(
      tiles(context.device, context.compute_dtype),
      {volume.entry.end - volume.entry.begin, shape.height, shape.width}, piece.index, piece.count);
  if (rows.begin == rows.end) return at::empty({0}, at::kByte);
  return mask_of(net_of(model), volume, rows, context);
}

at::Tensor VolumeRecipe::join_evaluated(const Batch& sample, const std::vector<at::Tensor>& pieces,
                                        StepContext& context) {
  const MappedVolume& volume = volume_of(sample.tensors.at(0)[0]);
  const VolumeShape& shape = volume.voxels->shape();
  return record_of(volume, at::cat(pieces).reshape({-1, shape.height, shape.width}), context);
}

std::vector<Metric> VolumeRecipe::metrics(const Records& records) const {
  return volume_metrics(records_of(records), evaluation_.topology);
}

ItemTable VolumeRecipe::items(const Records& records, EvaluationOutput&) const {
  std::vector<std::string> ids;
  for (const MappedVolume& volume : valid_) ids.push_back(volume.entry.id);
  return volume_table(records_of(records), ids, evaluation_.topology);
}

std::string VolumeRecipe::smaller_sample() const {
  const std::int64_t multiple = std::int64_t{1} << shape_.depth;
  const std::int64_t largest = *std::max_element(patch_.size.begin(), patch_.size.end());
  const std::int64_t smaller = largest / 2 / multiple * multiple;
  if (smaller < 2 * multiple) return "";  // VolumeOptions::check would refuse it
  return cat("a smaller patch (data.patch=", smaller, " instead of ", largest, ")");
}

}  // namespace lockstep::volume
