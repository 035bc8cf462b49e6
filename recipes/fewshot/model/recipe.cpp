#include "recipes/fewshot/model/recipe.h"

#include "core/base/text/text.h"
#include "ops/boxes/boxes.h"
#include "ops/chosen_boxes/chosen_boxes.h"
#include "ops/nms/nms.h"
#include "ops/picture_input/picture_input.h"
#include "recipes/fewshot/model/loss.h"
#include "recipes/fewshot/model/regions.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/where.h>
#include <torch/utils.h>

#include <algorithm>
#include <utility>

namespace lockstep::fewshot {
namespace {

// Layer numbers for StepContext::uniform.
constexpr std::int64_t support_numbers = 0, query_numbers = 1;

// Its two output matrices, embedding.weight and box.weight, are heads.
class DetectorModel : public NnModel<DetectorImpl> {
 public:
  using NnModel::NnModel;
  std::vector<Parameter> parameters() override {
    std::vector<Parameter> all = NnModel::parameters();
    for (Parameter& parameter : all)
      if (parameter.name == "embedding.weight" || parameter.name == "box.weight")
        parameter.use = ParameterUse::head;
    return all;
  }
};

DetectorImpl& net_of(Model& model) { return dynamic_cast<NnModel<DetectorImpl>&>(model).module(); }

// Normalizes pictures as weights from ImageNet need it. GPUs get the layout `blocks`, for the first
// convolution.
PictureInput network_input(const at::Device& device, const StepContext& context) {
  return {.mean = {123.675, 116.28, 103.53},
          .factor = {1 / 58.395, 1 / 57.12, 1 / 57.375},
          .dtype = context.compute_dtype,
          .layout = device.is_cuda() ? PictureLayout::blocks : PictureLayout::plain};
}

at::Tensor features_of(DetectorImpl& net, const std::vector<PictureSet>& pictures,
                       const PictureInput& input, const StepContext& context) {
  return net.features(picture_input(pictures, input), context, input.layout);
}

}  // namespace

FewshotRecipe::FewshotRecipe(const FewshotOptions& options, const Prepared& prepared)
    : options_(options), shape_(options.detector()), anchors_(shape_), extra_(prepared.extra) {}

std::unique_ptr<Model> FewshotRecipe::build(std::uint64_t seed) {
  torch::manual_seed(seed);
  return std::make_unique<DetectorModel>(std::make_shared<DetectorImpl>(shape_));
}

DatasetPair FewshotRecipe::data() {
  Sets sets = read_sets(sets_record_from_json(extra_.at("sets")));
  keep_shots(sets.train, used_classes(sets.split, options_.data.classes), options_.data.shots,
             static_cast<std::uint64_t>(options_.data.split_seed));
  groups_ = evaluation_groups(options_, sets);
  source_ = std::make_shared<EpisodeSource>(std::move(sets), options_);
  DatasetPair pair{
      .train = std::make_shared<TrainingEpisodes>(source_, options_, extra_.at("boxes")),
      .valid = nullptr};
  if (!groups_.empty())
    pair.valid = std::make_shared<EvaluationEpisodes>(source_, groups_, options_.evaluate.episodes);
  return pair;
}

std::vector<std::pair<std::string, std::string>> FewshotRecipe::weight_names() const {
  std::vector<std::pair<std::string, std::string>> names{
      {"*", "trunk.*"},     {"layer4.*", ""},        {"fc.*", ""},
      {"", "neck.*"},       {"", "proposal.*"},      {"", "proposal_deltas.*"},
      {"", "objectness.*"}, {"", "region_hidden.*"}, {"", "embedding.*"},
      {"", "box.*"},        {"", "background"},      {"", "scale"}};
  return names;
}

// The number of queries. Each query has the same share of an episode's loss.
std::vector<double> FewshotRecipe::loss_weights(const Batch& batch) const {
  const at::Tensor queries = batch.tensors.at(EpisodeFields::weights).sum(1);
  return std::vector<double>(4, queries.mul(batch.row_weight).sum().item<double>());
}

std::vector<at::Tensor> FewshotRecipe::loss(Model& model, const Batch& batch,
                                            StepContext& context) {
  // A training batch has only one row (Facts::fixed_micro).
  std::vector<at::Tensor> sums = loss_of(net_of(model), batch, 0, context);
  for (std::int64_t row = 1; row < batch.size(); ++row) {
    const std::vector<at::Tensor> terms = loss_of(net_of(model), batch, row, context);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = sums[i].add(terms[i]);
  }
  return sums;
}

std::vector<at::Tensor> FewshotRecipe::loss_of(DetectorImpl& net, const Batch& batch,
                                               std::int64_t row, const StepContext& context) {
  const auto field = [&](std::size_t i) { return batch.tensors.at(i)[row]; };
  const std::int64_t shots = options_.episode.k_shot;
  const at::Tensor supports = field(EpisodeFields::supports),
                   queries = field(EpisodeFields::queries);
  const std::int64_t classes = supports.size(0) / shots, count = queries.size(0);
  const auto numbers_of = [&](const at::Tensor& pictures, std::int64_t layer) {
    const std::int64_t each = pictures.size(0);
    return context.uniform(batch.size(), 3 * each, layer)[row].view({each, 3});
  };
  const at::Tensor of_supports = numbers_of(supports, support_numbers),
                   of_queries = numbers_of(queries, query_numbers);
  const PictureSet support_set{.pictures = supports, .numbers = of_supports},
      query_set{.pictures = queries, .numbers = of_queries};
  PictureInput input = network_input(supports.device(), context);
  input.flip = options_.augment.flip;
  input.brightness = options_.augment.brightness;
  input.contrast = options_.augment.contrast;
  const auto places_of = [&](const PictureSet& set, const at::Tensor& boxes) {
    const auto width = static_cast<double>(set.pictures.size(3));
    return input.flip ? flip_boxes(boxes, set.numbers.select(1, 0), width) : boxes;
  };
  const at::Tensor support_boxes = places_of(support_set, field(EpisodeFields::support_boxes));
  const Truth truth{.boxes = places_of(query_set, field(EpisodeFields::boxes)),
                    .labels = field(EpisodeFields::labels)};

  at::Tensor of_support, of_query;  // feature maps of the two sets
  if (supports.size(2) == queries.size(2)) {
    const at::Tensor maps = features_of(net, {support_set, query_set}, input, context);
    // The backward of a split is one concatenation in the memory layout of maps. The backward of
    // two narrow() calls is not.
    const auto parts = maps.split_with_sizes({supports.size(0), count});
    of_support = parts[0];
    of_query = parts[1];
  } else {
    of_support = features_of(net, {support_set}, input, context);
    of_query = features_of(net, {query_set}, input, context);
  }
  const ClassCodes codes = net.codes(of_support, support_boxes, classes);
  const AnchorOutputs proposed = net.anchors(of_query, codes);
  const at::Tensor& places = anchors_.of(of_query);
  const Targets anchor_targets = match_anchors(places, truth, classes);
  const Proposals proposals = propose(places, proposed.objectness, proposed.deltas, queries.size(2),
                                      queries.size(3), options_.model.regions);
  // True boxes are added to the regions, so that there is something to learn from the first step
  // on.
  const at::Tensor regions = at::cat({proposals.boxes, truth.boxes}, 1);
  const at::Tensor known = at::cat({proposals.known, truth.labels.ge(0)}, 1);
  const RegionTargets region_targets =
      match_regions(regions, known, truth, classes, static_cast<double>(options_.model.regions));
  const at::Tensor picture =
      at::arange(count, truth.labels.options()).unsqueeze(1).expand({count, regions.size(1)});
  const RegionOutputs found =
      net.regions(of_query, regions.flatten(0, 1), at::where(known, picture, -1).flatten(), codes);
  const at::Tensor weights = field(EpisodeFields::weights).mul(batch.row_weight[row]);
  const EpisodeLoss cost = episode_loss(places, proposed, anchor_targets, regions, found,
                                        region_targets, weights, options_.loss);
  return {cost.objectness, cost.anchor_boxes, cost.classes, cost.region_boxes};
}

ClassCodes FewshotRecipe::codes_of(DetectorImpl& net, const at::Tensor& supports,
                                   const at::Tensor& boxes, std::int64_t classes,
                                   const StepContext& context) const {
  const at::Tensor maps = features_of(net, {{.pictures = supports, .numbers = {}}},
                                      network_input(supports.device(), context), context);
  return net.codes(maps, boxes, classes);
}

at::Tensor FewshotRecipe::detect(DetectorImpl& net, const at::Tensor& queries,
                                 const ClassCodes& codes, const StepContext& context) const {
  const std::int64_t count = queries.size(0), classes = codes.kernels.size(0);
  const at::Tensor maps = features_of(net, {{.pictures = queries, .numbers = {}}},
                                      network_input(queries.device(), context), context);
  const at::Tensor& places = anchors_.of(maps);
  const AnchorOutputs proposed = net.anchors(maps, codes);
  const Proposals proposals = propose(places, proposed.objectness, proposed.deltas, queries.size(2),
                                      queries.size(3), options_.predict.regions);
  const std::int64_t regions = proposals.boxes.size(1);
  const at::Tensor picture = at::arange(count, proposals.known.options().dtype(at::kLong))
                                 .unsqueeze(1)
                                 .expand({count, regions});
  const RegionOutputs found = net.regions(maps, proposals.boxes.flatten(0, 1),
                                          at::where(proposals.known, picture, -1).flatten(), codes);
  const at::Tensor boxes =
      clip_boxes(decode_boxes(found.deltas, proposals.boxes.flatten(0, 1), region_coding),
                 static_cast<double>(queries.size(2)), static_cast<double>(queries.size(3)));
  // Each region appears once per class: [Q, N * R], with classes as the outer dimension.
  const at::Tensor shares =
      found.logits.softmax(1).narrow(1, 0, classes).view({count, regions, classes}).transpose(1, 2);
  const at::Tensor counts =
      proposals.known.unsqueeze(1).logical_and(shares.ge(options_.predict.score));
  const at::Tensor scores = shares.masked_fill(counts.logical_not(), -INFINITY).flatten(1);
  const at::Tensor all_boxes =
      boxes.view({count, 1, regions, 4}).expand({count, classes, regions, 4}).flatten(1, 2);
  const at::Tensor label = at::arange(classes, picture.options())
                               .view({1, classes, 1})
                               .expand({count, classes, regions})
                               .flatten(1);
  const at::Tensor kept = nms_padded(all_boxes.contiguous(), scores, options_.predict.nms,
                                     options_.predict.boxes, label.contiguous())
                              .indices;  // shape [Q, boxes]
  const at::Tensor place = kept.clamp_min(0);
  const at::Tensor corners = all_boxes.gather(1, place.unsqueeze(-1).expand({-1, -1, 4}));
  const at::Tensor rows = at::cat(
      {picture.select(1, 0).unsqueeze(1).expand_as(kept).unsqueeze(-1).to(at::kFloat),
       label.gather(1, place).unsqueeze(-1).to(at::kFloat), corners.slice(-1, 0, 2),
       corners.slice(-1, 2, 4).sub(corners.slice(-1, 0, 2)), scores.gather(1, place).unsqueeze(-1)},
      -1);
  const at::Tensor on_host = rows.cpu(), is_kept = kept.ge(0).cpu();
  return on_host.flatten(0, 1).index_select(0, is_kept.flatten().nonzero().flatten());
}

}  // namespace lockstep::fewshot
