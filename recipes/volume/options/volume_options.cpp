// The volume recipe's option table and its checks.
#include "recipes/volume/options/volume_options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/options/no_effect.h"

namespace lockstep::volume {
namespace {

template <class Data>
void add_data(OptionTable& table, Data& data) {
  table.add("data.path", data.path,
            {.meaning = "folder with train_images, train_labels and train.csv, images and labels "
                        "of the same names, or a raw folder of nnU-Net, whose dataset.json sets "
                        "options that are not given; empty: a small synthetic set",
             .is_path = true});
  table.add(
      "data.images", data.images,
      {.meaning = "folder of the images, if data.path does not determine it", .is_path = true});
  table.add(
      "data.labels", data.labels,
      {.meaning = "folder of the labels, if data.path does not determine it", .is_path = true});
  table.add("data.csv", data.csv,
            {.meaning = "table with a column `id` of the volumes to take; empty: train.csv of "
                        "data.path, or all pairs",
             .is_path = true});
  table.add("data.valid", data.valid,
            {.meaning = "ids to validate on, or a file with a column `id`; empty: "
                        "data.valid_share, or a fold"});
  table.add("data.valid_share", data.valid_share,
            {.meaning = "share of the volumes to validate on; with a single volume, share of its "
                        "planes",
             .min = 0,
             .max = 0.9});
  table.add("data.folds", data.folds,
            {.meaning = "number of parts into which volumes are split; part data.fold is validated "
                        "on; 0: none",
             .min = 0,
             .max = 1000});
  table.add("data.fold", data.fold, {.meaning = "from 0 to data.folds - 1", .min = 0, .max = 999});
  table.add("data.classes", data.classes,
            {.meaning = "1: foreground or not; more: one class per voxel, background too",
             .min = 1,
             .max = 255});
  table.add("data.ignore", data.ignore,
            {.meaning = "label of voxels that count nowhere, neither in the loss nor in a score; "
                        "-1: none",
             .min = -1,
             .max = 255});
  table.add("data.channels", data.channels,
            {.meaning = "channels of the images; 0: as in the files", .min = 0, .max = 64});
  table.add("data.normalize", data.normalize,
            {.meaning = "divide: by data.divide; zscore: mean 0 and deviation 1; percentile: the "
                        "0.5 % and 99.5 % quantiles become 0 and 1; ct: by quantiles, mean and "
                        "deviation of all training volumes' foreground"});
  table.add("data.divide", data.divide,
            {.meaning = "divisor of the values; 0: 255 for 8 bits, 65,535 for 16, 1 for others",
             .min = 0});
  table.add(
      "data.patch", data.patch,
      {.meaning = "size of the block that the model sees at once: z,y,x or one number for all",
       .unit = "voxels"});
  table.add("data.spacing", data.spacing,
            {.meaning = "z,y,x to resample to, or one number for all; outputs are resampled back; "
                        "empty: voxels stay as they are",
             .unit = "mm"});
  table.add("data.pad", data.pad, {.meaning = "take volumes that are smaller than a patch"});
  table.add("data.patches", data.patches,
            {.meaning = "patches of each volume per epoch", .min = 1, .max = 1e6});
  table.add(
      "data.positive", data.positive,
      {.meaning = "share of patches that lie around a voxel of foreground", .min = 0, .max = 1});
  table.add("data.cache_gb", data.cache_gb,
            {.meaning = "most disk space that decoded volumes may take; 0: as much as there is "
                        "room for",
             .unit = "GB",
             .min = 0});
}

template <class Files>
void add_files(OptionTable& table, Files& files) {
  table.add("files.same_grid", files.same_grid,
            {.meaning = "voxels of label and image belong together one by one, whatever the "
                        "affines of their NIfTI files say"});
  table.add("files.as_planes", files.as_planes,
            {.meaning = "read channels or times of a TIFF with a single plane as planes, because "
                        "tifffile writes planes so without axes"});
}

template <class Model>
void add_model(OptionTable& table, Model& model) {
  table.add(
      "model.width", model.width,
      {.meaning = "channels at full resolution, twice as many a level down", .min = 1, .max = 512});
  table.add("model.depth", model.depth,
            {.meaning = "levels below full resolution", .min = 1, .max = 7});
  table.add("model.attention", model.attention,
            {.meaning = "channel and spatial attention in the decoder"});
  table.add("model.dropout", model.dropout,
            {.meaning = "dropout of the deepest level; grows from 0 down the encoder",
             .min = 0,
             .max = 0.9});
  table.add("model.decoder_dropout", model.decoder_dropout,
            {.meaning = "dropout of the deepest level of the decoder; falls to 0 towards full "
                        "resolution",
             .min = 0,
             .max = 0.9});
  table.add("model.deep_supervision", model.deep_supervision,
            {.meaning = "coarser levels learn too, each with half of the next one's weight"});
}

template <class Augment>
void add_augment(OptionTable& table, Augment& augment) {
  table.add("augment.flip", augment.flip, {.meaning = "flip along each axis at random"});
  table.add("augment.rotate90", augment.rotate90,
            {.meaning = "quarter turns in the plane, where patches are square there"});
  table.add("augment.brightness", augment.brightness,
            {.meaning = "largest change of brightness, a share", .min = 0, .max = 0.99});
  table.add("augment.contrast", augment.contrast,
            {.meaning = "largest change of contrast, a share", .min = 0, .max = 0.99});
  table.add("augment.rotate", augment.rotate,
            {.meaning = "largest turn around each axis", .unit = "degrees", .min = 0, .max = 180});
  table.add("augment.scale", augment.scale,
            {.meaning = "largest change of size, a share", .min = 0, .max = 0.9});
  table.add("augment.elastic", augment.elastic,
            {.meaning = "largest shift of an elastic deformation",
             .unit = "voxels",
             .min = 0,
             .max = 100});
  table.add("augment.gamma", augment.gamma,
            {.meaning = "largest change of the exponent, a share", .min = 0, .max = 0.9});
  table.add("augment.noise", augment.noise,
            {.meaning = "largest deviation of noise on normalised values", .min = 0, .max = 10});
}

template <class Loss>
void add_loss(OptionTable& table, Loss& loss) {
  table.add("loss.dice", loss.dice, {.meaning = "weight of Dice, per patch", .min = 0});
  table.add("loss.focal", loss.focal, {.meaning = "weight of focal loss, per voxel", .min = 0});
  table.add("loss.bce", loss.bce, {.meaning = "weight of cross-entropy, per voxel", .min = 0});
  table.add("loss.focal_alpha", loss.focal_alpha,
            {.meaning = "weight of foreground in the focal loss", .min = 0, .max = 1});
  table.add("loss.focal_gamma", loss.focal_gamma,
            {.meaning = "how much the focal loss lowers the weight of voxels that the model is "
                        "sure of",
             .min = 0,
             .max = 10});
}

template <class Scoring, class Predict>
void add_outputs(OptionTable& table, Scoring& scoring, Predict& predict) {
  table.add("predict.overlap", predict.overlap,
            {.meaning = "share of a tile that neighbours have in common, in evaluation and "
                        "prediction",
             .min = 0,
             .max = 0.9});
  table.add("predict.weights", predict.weights,
            {.meaning = "how tiles count where they overlap: less towards their edge, or alike"});
  table.add("predict.batch", predict.batch,
            {.meaning = "tiles at once; 0: 1 on a CPU, 16 on a GPU", .min = 0, .max = 4096});
  table.add("predict.flips", predict.flips,
            {.meaning = "mean of all flips of each tile: eight times the work"});
  table.add("score.tolerance", scoring.tolerance,
            {.meaning = "tolerance of SurfaceDice, in score.unit", .min = 0, .max = 1e6});
  table.add("score.unit", scoring.unit,
            {.meaning = "unit of score.tolerance and, if it is set, of hd95"});
  table.add("score.topology", scoring.topology,
            {.meaning = "compute SurfaceDice, VOI and topology besides Dice and IoU, with one "
                        "class"});
  table.add("score.labels", scoring.labels,
            {.meaning = "folder of labels for lockstep score; empty: found in data.path",
             .is_path = true});
  table.add("score.summary", scoring.summary,
            {.meaning = "file for lockstep score's summary in nnU-Net's form; empty: summary.json "
                        "in the folder of predictions, unless another program wrote one there; "
                        "none: no file",
             .is_path = true,
             .no_paths = {"none"}});
  table.add("predict.images", predict.images,
            {.meaning = "folder of volumes to predict; empty: test_images of data.path",
             .is_path = true});
  table.add("predict.csv", predict.csv,
            {.meaning = "table with a column `id` of those to take; empty: test.csv of data.path, "
                        "or all",
             .is_path = true});
  table.add(
      "predict.submission", predict.submission,
      {.meaning = "name of a zip file with all masks, in the folder of outputs; empty: none"});
  table.add("predict.save", predict.save,
            {.meaning = "probabilities: save maps of them beside the masks"});
  table.add("predict.threshold", predict.threshold,
            {.meaning = "probability above which a voxel is foreground, with one class",
             .min = 0,
             .max = 1});
  table.add("predict.min_component", predict.min_component,
            {.meaning = "smaller components are removed from masks; 0: none",
             .unit = "voxels",
             .min = 0});
}

// Reads three numbers, or one number for all three.
std::optional<std::array<double, 3>> three(const std::vector<std::string>& words) {
  if (words.size() != 1 && words.size() != 3) return std::nullopt;
  std::array<double, 3> numbers{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string& word = words[words.size() == 1 ? 0 : i];
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), numbers[i]);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  }
  return numbers;
}

// Rewrites numbers among other characters, such as 64x64x64 or (64,64,64), in the option's format.
// Returns "" if there are not one or three numbers.
std::string numbers_in(const std::vector<std::string>& words) {
  std::string text = join(words, ",");
  for (char& c : text)
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '.') c = ' ';
  std::vector<std::string> numbers = split(text, ' ');
  std::erase(numbers, "");
  return three(numbers) ? join(numbers, ",") : "";
}

// A hint for an option whose numbers are invalid or cannot be read. examples: "data.patch=64 or
// data.patch=32,64,64".
std::string hint_for_numbers(const std::string& key, const std::vector<std::string>& words,
                             const std::string& examples) {
  const std::string numbers = three(words) ? "" : numbers_in(words);
  return numbers.empty() ? cat("for example ", examples)
                         : cat("write numbers with commas between: ", key, "=", numbers);
}

}  // namespace

VolumeOptions::VolumeOptions() {
  add_data(table, data);
  add_files(table, files);
  add_augment(table, augment);
  add_model(table, model);
  add_loss(table, loss);
  add_outputs(table, scoring, predict);
  add_item_options();
  for (const Preset& preset : presets()) table.add_preset(preset);
  table.add_synonyms(synonyms());
}

std::array<std::int64_t, 3> VolumeOptions::patch() const {
  const auto numbers = three(data.patch);
  const auto good = [](double n) { return n >= 1 && n <= 1024 && n == std::floor(n); };
  if (!numbers || !std::all_of(numbers->begin(), numbers->end(), good))
    throw Error(cat("data.patch must be one whole number from 1 to 1024 or three (z,y,x), but is ",
                    join(data.patch, ",")),
                hint_for_numbers("data.patch", data.patch, "data.patch=64 or data.patch=32,64,64"));
  std::array<std::int64_t, 3> sizes{};
  std::transform(numbers->begin(), numbers->end(), sizes.begin(),
                 [](double n) { return static_cast<std::int64_t>(n); });
  return sizes;
}

std::optional<std::array<double, 3>> VolumeOptions::spacing() const {
  if (data.spacing.empty()) return std::nullopt;
  const auto numbers = three(data.spacing);
  if (!numbers || !std::all_of(numbers->begin(), numbers->end(),
                               [](double mm) { return mm > 0 && std::isfinite(mm); }))
    throw Error(
        cat("data.spacing must be one positive number or three (z,y,x), but is ",
            join(data.spacing, ",")),
        hint_for_numbers("data.spacing", data.spacing, "data.spacing=1 or data.spacing=3,1,1"));
  return numbers;
}

std::optional<std::int64_t> VolumeOptions::ignore() const {
  if (data.ignore < 0) return std::nullopt;
  return data.ignore;
}

ReadVolume VolumeOptions::read_volume(bool labels) const {
  return {.as_planes = files.as_planes, .labels = labels};
}

NetShape VolumeOptions::net(std::int64_t channels) const {
  return {.channels = channels,
          .outputs = outputs(),
          .width = model.width,
          .depth = model.depth,
          .attention = model.attention,
          .dropout = model.dropout,
          .decoder_dropout = model.decoder_dropout,
          .deep_supervision = model.deep_supervision};
}

void VolumeOptions::defaults(TrainOptions& train, bool has_gpu) const {
  train.preset = has_gpu ? "full" : "small";
  train.eval.batch = 1;  // number of volumes
  train.eval.every_epochs = 5;
}

void VolumeOptions::check_labels() const {
  if (data.ignore >= 0 && data.ignore < std::max<std::int64_t>(2, data.classes))
    throw Error(cat("data.ignore=", data.ignore, " is one of the classes 0 to ",
                    std::max<std::int64_t>(2, data.classes) - 1),
                "set data.ignore to the label of voxels without one, or to -1");
}

void VolumeOptions::check(const TrainOptions&) const {
  spacing();
  check_labels();
  const std::int64_t multiple = std::int64_t{1} << model.depth;
  for (const std::int64_t size : patch())
    if (size % multiple != 0)
      throw Error(cat("data.patch must be multiples of ", multiple,
                      " with model.depth=", model.depth, ", but is ", join(data.patch, ",")),
                  cat("for example ", (size / multiple + 1) * multiple, " instead of ", size));
  std::int64_t deepest = 1;
  for (const std::int64_t size : patch()) deepest *= size / multiple;
  if (deepest == 1)
    throw Error(cat("data.patch=", join(data.patch, ","),
                    " leaves one voxel at the deepest level "
                    "of model.depth=",
                    model.depth, ", which cannot be normalised"),
                cat("take a patch of ", 2 * multiple, " or more, or fewer levels"));
  if (data.folds == 0 && data.fold != 0)
    throw Error(cat("data.fold=", data.fold,
                    " says which fold, but data.folds does not say of how "
                    "many"),
                "give data.folds too");
  if (data.folds == 1 || (data.folds > 1 && data.fold >= data.folds))
    throw Error(cat("data.fold=", data.fold, " of data.folds=", data.folds, " cannot be"),
                "data.folds is 0, or 2 and more; data.fold is from 0 to data.folds - 1");
  if (data.folds > 0 && !data.valid.empty())
    throw Error("data.folds and data.valid both say what to validate on", "give one of them");
  if (data.folds > 0 || !data.valid.empty())
    check_no_effect(table,
                    cat(data.folds > 0 ? "data.folds" : "data.valid", " says what to validate on"),
                    {"data.valid_share"});
  if (made())
    check_no_effect(table, "no data.path is given, and the volumes are made", {"data.csv"});
  if (data.normalize != Normalize::divide)
    check_no_effect(table, cat("data.normalize is ", table.get("data.normalize")), {"data.divide"});
  if (!predict.submission.empty() &&
      (!predict.submission.ends_with(".zip") || predict.submission.find('/') != std::string::npos))
    throw Error(cat("predict.submission must be the name of a zip file in the folder of outputs, "
                    "but is ",
                    predict.submission),
                "for example submission=submission.zip; out=DIR says where it goes");
  if (loss.dice + loss.focal + loss.bce <= 0)
    throw Error("loss.dice, loss.focal and loss.bce are all 0", "give one of them a weight");
  if (data.path.empty() && (data.images.empty() != data.labels.empty()))
    throw Error("data.images and data.labels belong together, but only one of them is given",
                "give both, or data.path; for lockstep score alone, score.labels=DIR names the "
                "labels");
}

std::optional<BuiltIn> VolumeOptions::built_in() const {
  if (!made()) return std::nullopt;
  return BuiltIn{"synthetic volumes", "data.path=FOLDER"};
}

std::vector<std::string> VolumeOptions::metric_names() const {
  std::vector<std::string> names = {"dice", "iou"};
  if (scoring.topology && data.classes == 1)
    names.insert(names.end(), {"score", "surface_dice", "voi_score", "topology_score"});
  return names;
}

PredictInput VolumeOptions::predict_input() const {
  PredictInput input{.kind = PredictInput::Kind::files,
                     .suffixes = {".tif", ".tiff", ".nii", ".gz"},
                     .finds_items = true,
                     .averages = true};
  if (!predict.submission.empty()) input.joint_outputs = {predict.submission};
  return input;
}

}  // namespace lockstep::volume
