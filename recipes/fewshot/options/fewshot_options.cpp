// The fewshot recipe's option table and its checks.
#include "recipes/fewshot/options/fewshot_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/options/no_effect.h"
#include "recipes/fewshot/options/trunk_of_file.h"

namespace lockstep::fewshot {
namespace {

template <class Data>
void add_data(OptionTable& table, Data& data) {
  table.add("data.path", data.path,
            {.meaning = "folder with pictures and boxes in the format of COCO, Roboflow or Pascal "
                        "VOC, or a COCO json; empty: synthetic shapes",
             .is_path = true});
  table.add("data.train", data.train,
            {.meaning = "annotations to train on, if data.path does not determine them: a COCO "
                        "json, a folder of VOC xml, or a list of ImageSets",
             .is_path = true});
  table.add("data.train_pictures", data.train_pictures,
            {.meaning = "folder of the pictures to train on; empty: found beside the annotations",
             .is_path = true});
  table.add("data.valid", data.valid,
            {.meaning = "annotations to validate on, in the same formats", .is_path = true});
  table.add(
      "data.valid_pictures", data.valid_pictures,
      {.meaning = "folder of the pictures to validate on; empty: found beside the annotations",
       .is_path = true});
  table.add("data.exif", data.exif,
            {.meaning = "frame of the boxes, if EXIF turns a picture: stored, its stored pixels; "
                        "turned, the turned picture; auto, decided by the sizes in the "
                        "annotations, else by the boxes"});
  table.add("data.valid_share", data.valid_share,
            {.meaning = "share of the pictures to validate on, if no other set is found",
             .min = 0.01,
             .max = 0.9});
  table.add("data.base", data.base,
            {.meaning = "classes to train on, or @FILE with one name per line; empty: all that "
                        "are not in data.novel"});
  table.add("data.novel", data.novel,
            {.meaning = "classes that base training never sees, or @FILE; empty: all that are not "
                        "in data.base, or a share"});
  table.add("data.novel_share", data.novel_share,
            {.meaning = "share of the classes that are novel if data.base and data.novel are "
                        "empty; 0: none",
             .min = 0,
             .max = 0.9});
  table.add("data.split_seed", data.split_seed,
            {.meaning = "seed that decides which pictures are validated on, which classes are "
                        "novel and which boxes data.shots takes",
             .min = 0});
  table.add("data.classes", data.classes,
            {.meaning = "which classes training draws; the boxes of the others are neither "
                        "objects nor background"});
  table.add("data.shots", data.shots,
            {.meaning = "boxes of each class that training sees, for fine-tuning; 0: all",
             .min = 0,
             .max = 1e6});
  table.add("data.cache_gb", data.cache_gb,
            {.meaning = "memory for decoded pictures at most, per device", .unit = "GB", .min = 0});
}

template <class Episode>
void add_episode(OptionTable& table, Episode& episode) {
  table.add("episode.n_way", episode.n_way,
            {.meaning = "classes of an episode; 0: five, or all where there are fewer",
             .min = 0,
             .max = 1000});
  table.add("episode.k_shot", episode.k_shot,
            {.meaning = "examples (supports) of each class", .min = 1, .max = 1000});
  table.add("episode.queries", episode.queries,
            {.meaning = "pictures in which the classes are looked for", .min = 1, .max = 1000});
  table.add("episode.size", episode.size,
            {.meaning = "edge to which queries are scaled, without keeping their aspect ratio",
             .unit = "pixels",
             .min = 32,
             .max = 4096});
  table.add("episode.support_size", episode.support_size,
            {.meaning = "edge of an example, cut out around its box; 0: episode.size",
             .unit = "pixels",
             .min = 0,
             .max = 4096});
  table.add("episode.context", episode.context,
            {.meaning = "how much of the picture is shown on each side of an example's box",
             .unit = "pixels",
             .min = 0,
             .max = 1024});
}

template <class Model>
void add_model(OptionTable& table, Model& model) {
  table.add("model.depth", model.depth,
            {.meaning = "layers of the ResNet: 18, 34, 50 or 101", .min = 18, .max = 101});
  table.add("model.width", model.width,
            {.meaning = "channels of the ResNet's first stage; 64 for torchvision's and timm's "
                        "weights",
             .min = 16,  // with less, convolutions of LibTorch 2.11 on CPUs write out of bounds
             .max = 512});
  table.add("model.neck", model.neck,
            {.meaning = "channels of the feature maps in which supports are looked for",
             .min = 8,
             .max = 4096});
  table.add("model.hidden", model.hidden,
            {.meaning = "width of the head for regions", .min = 8, .max = 16384});
  table.add("model.embedding", model.embedding,
            {.meaning = "size of the vectors by which a region and a class are compared",
             .min = 8,
             .max = 16384});
  table.add("model.anchor_sizes", model.anchor_sizes,
            {.meaning = "square roots of the areas of anchors, the boxes that proposals begin with",
             .unit = "pixels"});
  table.add("model.anchor_ratios", model.anchor_ratios,
            {.meaning = "height divided by width of "
                        "anchors"});
  table.add("model.regions", model.regions,
            {.meaning = "proposals per query that training uses, besides the true boxes",
             .min = 4,
             .max = 10000});
}

template <class Augment, class Loss, class Stop>
void add_training(OptionTable& table, Augment& augment, Loss& loss, Stop& stop) {
  table.add("augment.flip", augment.flip,
            {.meaning = "mirror queries and examples left to right at random"});
  table.add("augment.brightness", augment.brightness,
            {.meaning = "largest change of brightness, a share", .min = 0, .max = 0.99});
  table.add("augment.contrast", augment.contrast,
            {.meaning = "largest change of contrast, a share", .min = 0, .max = 0.99});
  table.add("loss.proposals", loss.proposals,
            {.meaning = "weight of the loss for where objects of the classes are", .min = 0});
  table.add("loss.proposal_boxes", loss.proposal_boxes,
            {.meaning = "weight of the loss for the boxes of proposals", .min = 0});
  table.add("loss.classes", loss.classes,
            {.meaning = "weight of the loss for the classes of "
                        "regions",
             .min = 0});
  table.add("loss.boxes", loss.boxes,
            {.meaning = "weight of the loss for the boxes of regions", .min = 0});
  table.add("stop.episodes", stop.episodes,
            {.meaning = "length of the run: an epoch has this many episodes, and stop.epochs is 1",
             .unit = "episodes",
             .min = 1});
}

template <class Evaluate, class Scoring, class Predict>
void add_outputs(OptionTable& table, Evaluate& evaluate, Scoring& scoring, Predict& predict) {
  table.add("evaluate.episodes", evaluate.episodes,
            {.meaning = "episodes of base classes, as many of novel ones, and for each number of "
                        "shots",
             .unit = "episodes",
             .min = 1,
             .max = 1e6});
  table.add("evaluate.shots", evaluate.shots,
            {.meaning = "numbers of examples to evaluate with, 1,2,3,5,10; empty: "
                        "episode.k_shot"});
  table.add("evaluate.queries", evaluate.queries,
            {.meaning = "pictures per episode of an evaluation; 0: episode.queries",
             .min = 0,
             .max = 100000});
  table.add(
      "score.truth", scoring.truth,
      {.meaning = "annotations for lockstep score, which needs no pictures; empty: data.valid, "
                  "or the validation set of data.path",
       .is_path = true});
  table.add(
      "predict.images", predict.images,
      {.meaning = "pictures and folders of them, where no INPUT is given; empty: the first 20 of "
                  "the run's validation set",
       .is_path = true});
  table.add("predict.supports", predict.supports,
            {.meaning = "table of examples with the columns file, class and x, y, w, h (or x_min, "
                        "y_min, x_max, y_max); without a box the whole picture is the example; "
                        "empty: boxes of the run's "
                        "training set",
             .is_path = true});
  table.add("predict.supports_of", predict.supports_of,
            {.meaning = "folder in which the files of predict.supports lie; empty: that of the "
                        "table",
             .is_path = true});
  table.add("predict.regions", predict.regions,
            {.meaning = "proposals per picture, in evaluation too", .min = 1, .max = 10000});
  table.add(
      "predict.score", predict.score,
      {.meaning = "lowest score of a box that counts, in evaluation too", .min = 0, .max = 1});
  table.add("predict.nms", predict.nms,
            {.meaning = "overlap (IoU) above which the less likely of two boxes of a class is left "
                        "out, in evaluation too",
             .min = 0,
             .max = 1});
  table.add("predict.boxes", predict.boxes,
            {.meaning = "boxes per picture at most, in evaluation too", .min = 1, .max = 10000});
  table.add("predict.shown", predict.shown,
            {.meaning = "lowest score of a box that is drawn", .min = 0, .max = 1});
}

std::vector<double> numbers(const std::string& key, const std::vector<std::string>& texts) {
  std::vector<double> values;
  for (const std::string& text : texts) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || rest != end || !(value > 0) || !std::isfinite(value))
      throw Error(cat(key, " holds \"", text, "\", which is no number above 0"),
                  cat("for example ", key, "=32,64,128"));
    values.push_back(value);
  }
  if (values.empty()) throw Error(cat(key, " is empty"), cat("for example ", key, "=32,64,128"));
  return values;
}

}  // namespace

FewshotOptions::FewshotOptions() {
  add_data(table, data);
  add_episode(table, episode);
  add_model(table, model);
  add_training(table, augment, loss, stop);
  add_outputs(table, evaluate, scoring, predict);
  add_item_options();
  for (const Preset& preset : presets()) table.add_preset(preset);
  table.add_synonyms(synonyms());
}

void FewshotOptions::defaults(TrainOptions& train, bool has_gpu) const {
  train.preset = has_gpu ? "resnet50" : "small";
  train.batch.global = 8;
  train.stop.epochs = 1;
  train.eval.batch = 1;  // number of episodes
  train.optimizer.kind = OptimizerKind::adamw;
  train.optimizer.clip = 10;
  train.memory.recompute = Recompute::automatic;  // an episode cannot be split into smaller batches
}

DetectorShape FewshotOptions::detector() const {
  return {.depth = model.depth,
          .width = model.width,
          .neck = model.neck,
          .hidden = model.hidden,
          .embedding = model.embedding,
          .anchor_sizes = numbers("model.anchor_sizes", model.anchor_sizes),
          .anchor_ratios = numbers("model.anchor_ratios", model.anchor_ratios)};
}

std::vector<std::int64_t> FewshotOptions::shots() const {
  if (evaluate.shots.empty()) return {episode.k_shot};
  std::vector<std::int64_t> all;
  for (const double value : numbers("evaluate.shots", evaluate.shots)) {
    if (value != std::floor(value) || value > 1000)
      throw Error(
          cat("evaluate.shots holds ", general(value, 6), ", which is no number of examples"),
          "for example evaluate.shots=1,2,3,5,10");
    all.push_back(static_cast<std::int64_t>(value));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::string FewshotOptions::smaller_episode() const {
  std::vector<std::string> ways;
  const auto half = [&](const char* key, std::int64_t value, std::int64_t least) {
    if (value / 2 >= least) ways.push_back(cat(key, "=", value / 2, " instead of ", value));
  };
  half("episode.size", episode.size, 64);
  half("episode.queries", episode.queries, 1);
  half("episode.k_shot", episode.k_shot, 1);
  if (ways.empty()) return "";
  return cat("a smaller episode (", join(ways, ", or "), ")");
}

void FewshotOptions::check(const TrainOptions& train) const {
  detector();
  shots();
  if (model.depth != 18 && model.depth != 34 && model.depth != 50 && model.depth != 101)
    throw Error(cat("model.depth is ", model.depth, ", but there is no such ResNet"),
                "use 18, 34, 50 or 101");
  check_trunk_of_file(train, {.depth = model.depth, .width = model.width});
  if (train.eval.batch > 1)
    throw Error(cat("eval.batch is ", train.eval.batch,
                    ", but episodes differ in size and are evaluated one episode at a time"),
                "leave eval.batch at 1: an episode's pictures are taken together already");
  if (train.exact && train.norm.statistics != NormStatistics::frozen)
    throw Error(cat("exact = true needs buffers that training leaves alone, but with "
                    "norm.statistics = ",
                    train.table.get("norm.statistics"),
                    " the ResNet's batch norm keeps statistics of the episodes"),
                "set norm.statistics=frozen, with the weights of a file (init.from), or leave out "
                "exact");
  if (2 * episode.context >= support_size())
    throw Error(cat("episode.context=", episode.context, " on each side leaves nothing of ",
                    support_size(), " pixels for the example itself"),
                "use a smaller episode.context, or a larger episode.support_size");
  if (support_size() < 32)
    throw Error(
        cat("episode.support_size is ", episode.support_size, ", but the trunk needs 32 pixels"),
        "use 32 or more, or 0 for episode.size");
  if (made())
    check_no_effect(table,
                    "neither data.path nor data.train is given, and the shapes that are drawn have "
                    "sets and novel classes of their own",
                    {"data.train_pictures", "data.valid_share", "data.novel_share"});
  if (made() && data.valid.empty())
    check_no_effect(table, "none of data.path, data.train and data.valid is given",
                    {"data.valid_pictures"});
  if (predict.supports.empty())
    check_no_effect(table, "predict.supports names no table", {"predict.supports_of"});
  if (!data.valid.empty())
    check_no_effect(table, "data.valid says what to validate on", {"data.valid_share"});
  if (!data.base.empty() || !data.novel.empty())
    check_no_effect(table, "data.base and data.novel say which classes are novel",
                    {"data.novel_share"});
  if (data.shots > 0 && data.shots <= episode.k_shot)
    throw Error(cat("data.shots=", data.shots,
                    " boxes of each class are all that training sees, "
                    "but episode.k_shot takes ",
                    episode.k_shot, " of them as examples and leaves nothing to find"),
                cat("use episode.k_shot=", data.shots > 1 ? data.shots - 1 : 1,
                    data.shots > 1 ? "" : " and data.shots=2"));
  if (loss.proposals + loss.proposal_boxes + loss.classes + loss.boxes <= 0)
    throw Error("the weights loss.* are all 0", "give one of them a weight");
}

std::optional<BuiltIn> FewshotOptions::built_in() const {
  if (!made()) return std::nullopt;
  return BuiltIn{"drawn shapes", "data.path=FOLDER"};
}

std::vector<std::string> FewshotOptions::metric_names() const {
  // Only metrics for the first number of shots are listed. Names of the others contain their
  // number.
  std::vector<std::string> names;
  for (const std::string group : {"novel", "base"})
    for (const std::string name : {"AP50", "AP", "AP75"}) names.push_back(cat(name, "_", group));
  return names;
}

PredictInput FewshotOptions::predict_input() const {
  return {.kind = PredictInput::Kind::files,
          .suffixes = {".jpg", ".jpeg", ".png"},
          .joint_outputs = {"detections.csv", "detections.json"},
          .finds_items = true,
          .batch = 4};
}

std::vector<PredictItem> FewshotOptions::items(const ItemQuery& query) const {
  ItemQuery of_images = query;
  if (query.inputs.empty()) of_images.inputs = predict.images;
  if (of_images.inputs.empty() && validation_pictures != nullptr)
    of_images.inputs = validation_pictures(*this, query);
  return list_items(predict_input(), of_images);
}

}  // namespace lockstep::fewshot
