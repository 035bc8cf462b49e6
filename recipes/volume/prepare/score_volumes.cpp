// Compares masks in files with labels in files.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json_file.h"
#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "core/media/zip_reader.h"
#include "recipes/volume/files/axes.h"
#include "recipes/volume/files/same_place.h"
#include "recipes/volume/files/volume_reader.h"
#include "recipes/volume/metrics/hausdorff.h"
#include "recipes/volume/metrics/volume_record.h"
#include "recipes/volume/prepare/cache/parallel.h"
#include "recipes/volume/prepare/find/find_volumes.h"
#include "recipes/volume/prepare/find/nnunet_dataset.h"
#include "recipes/volume/prepare/prepare.h"
#include "recipes/volume/prepare/score_summary.h"
#include "recipes/volume/voxels/voxels.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;
using Volumes = std::map<std::string, fs::path>;

constexpr std::array<std::string_view, 6> label_folders{"test_labels", "labelsTs", "train_labels",
                                                        "labelsTr",    "labels",   "label"};

struct Compared {
  std::string id;
  fs::path predicted, truth;
};

struct Scores {
  VolumeRecord record;
  std::vector<std::optional<double>> hausdorff_95;  // by class, from class 1 on
  bool turned = false;            // whether the prediction was turned to the axes of its label
  bool one_has_no_place = false;  // whether only one of two NIfTI files has an affine
};

// A column of the table, with its mean over volumes. The number may be undefined (NaN) for a
// volume.
struct Column {
  std::string name;
  std::function<double(const Scores&)> value;
  std::string unit{};
  bool lower_is_better = false;
};

bool has_surfaces(const VolumeOptions& options) {
  return options.scoring.topology && options.data.classes == 1;
}

const fs::path* find_volume(const Volumes& volumes, const std::string& id) {
  const auto found = volumes.find(id);
  return found == volumes.end() ? nullptr : &found->second;
}

// Finds the prediction for an id. Its file may still have the name of the first channel.
const fs::path* find_prediction(const Volumes& predictions, const std::string& id) {
  const fs::path* const found = find_volume(predictions, id);
  return found != nullptr ? found : find_volume(predictions, channel_name(id, 0));
}

fs::path truth_folder(const VolumeOptions& options, const Volumes& predictions) {
  if (!options.scoring.labels.empty()) return options.scoring.labels;
  if (options.data.path.empty()) {
    if (!options.data.labels.empty()) return options.data.labels;
    throw Error("lockstep score volume needs the labels to compare with",
                "name their folder with labels=FOLDER, or data.path=DATA with test_labels or "
                "train_labels in it");
  }
  std::error_code ignored;
  const fs::path path = options.data.path;
  fs::path first;
  for (const std::string_view name : label_folders) {
    if (!fs::is_directory(path / name, ignored)) continue;
    if (first.empty()) first = path / name;
    for (const auto& [id, label] : list_nnunet_volumes(path / name, nnunet_dataset_file(path)))
      if (find_prediction(predictions, id) != nullptr) return path / name;
  }
  if (first.empty())
    throw Error(
        cat("there are no labels in ", path.string(), ": it has none of the folders ",
            join(std::vector<std::string>(label_folders.begin(), label_folders.end()), ", ")),
        "name their folder with labels=FOLDER");
  return first;
}

// The ids in predict.csv, or the ids of all labels if there is no such file.
std::vector<std::string> wanted_ids(const VolumeOptions& options, const Volumes& labels) {
  std::vector<std::string> ids;
  if (!options.predict.csv.empty())
    for (const TableId& row : read_ids(options.predict.csv)) ids.push_back(row.id);
  else
    for (const auto& [id, path] : labels) ids.push_back(id);
  return ids;
}

// Removes the files that predict.save=probabilities writes next to masks: ID_probability,
// ID_probability_2.
Volumes without_probabilities(Volumes volumes) {
  constexpr std::string_view ending = "_probability";
  std::erase_if(volumes, [&](const auto& volume) {
    std::string id = volume.first;
    const std::size_t digits = id.find_last_not_of("0123456789");
    if (digits != id.npos && digits + 1 < id.size() && id[digits] == '_') id.resize(digits);
    return id.ends_with(ending) && volumes.contains(id.substr(0, id.size() - ending.size()));
  });
  return volumes;
}

// path: a folder, or a zip file, which is unpacked into `scratch`.
Volumes list_predictions(const fs::path& path, const fs::path& scratch) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return without_probabilities(list_nnunet_volumes(path, path / "dataset.json"));
  if (!fs::exists(path, ignored) || path.extension() != ".zip")
    throw Error(cat(path.string(), fs::exists(path, ignored) ? " is no folder" : " is not there"),
                "predictions=PATH names the folder of the masks, or a zip file of them");
  ZipReader zip(path);
  for (std::size_t i = 0; i < zip.entries().size(); ++i)
    if (!volume_suffix(zip.entries()[i].name).empty()) zip.extract(i, scratch);
  return list_volumes(scratch);
}

// nnU-Net's dataset.json of data.path, or else of the folder around the labels.
fs::path dataset_of_labels(const VolumeOptions& options, const fs::path& labels) {
  const fs::path file = nnunet_dataset_file(options.data.path);
  return file.empty() ? nnunet_dataset_around(labels) : file;
}

// Reads the dataset.json of the labels. If there is none and data.path is empty, reads the copy
// next to the predictions.
void take_dataset(VolumeOptions& options, const fs::path& labels, const fs::path& predictions,
                  const Say& say) {
  fs::path file = dataset_of_labels(options, labels);
  std::error_code ignored;
  if (const fs::path beside = predictions / "dataset.json";
      file.empty() && options.data.path.empty() && fs::is_regular_file(beside, ignored))
    file = beside;
  if (!file.empty()) take_nnunet_dataset(options, read_nnunet_dataset(file), false, say);
}

std::vector<Compared> find_compared(const VolumeOptions& options, const ScoreContext& context,
                                    const Volumes& predictions, const fs::path& folder,
                                    const Say& say) {
  const Volumes labels = list_nnunet_volumes(folder, dataset_of_labels(options, folder));
  std::vector<Compared> compared;
  std::vector<std::string> missing;
  for (const std::string& id : wanted_ids(options, labels)) {
    const fs::path* const truth = find_volume(labels, id);
    if (truth == nullptr)
      throw Error(cat("the volume ", id, " has no label in ", folder.string()),
                  nearest_hint(id, labels));
    if (const fs::path* const predicted = find_prediction(predictions, id))
      compared.push_back({id, *predicted, *truth});
    else
      missing.push_back(id);
  }
  if (!missing.empty())
    throw Error(cat(missing.size(), " of ", missing.size() + compared.size(), " labels in ",
                    folder.string(), " have no prediction in ", context.predictions.string(), ": ",
                    first_five(missing)),
                "predict them too, or name the ids that count with predict.csv=FILE");
  if (compared.empty())
    throw Error(cat("the folder ", folder.string(), " holds no labels"),
                "name their folder with labels=FOLDER");
  if (predictions.size() > compared.size())
    say(cat("passed over ", predictions.size() - compared.size(),
            predictions.size() - compared.size() == 1 ? " prediction" : " predictions",
            " without a label"));
  return compared;
}

// Whether distances are in millimetres. score.unit decides if the user gave it. Otherwise, all
// labels must have a spacing.
bool measures_mm(const VolumeOptions& options, const std::vector<Compared>& compared) {
  if (options.scoring.unit == ToleranceUnit::mm || options.table.is_given("score.unit"))
    return options.scoring.unit == ToleranceUnit::mm;
  return std::all_of(compared.begin(), compared.end(), [&](const Compared& volume) {
    return open_volume(volume.truth, options.read_volume(true))->header().spacing_mm.has_value();
  });
}

Spacing spacing_of(const VolumeReader& truth, bool mm) {
  if (!mm) return {1, 1, 1};
  const auto& spacing = truth.header().spacing_mm;
  if (!spacing)
    throw Error(cat("score.unit is mm, but ", truth.name(), " does not say its spacing"),
                "set score.unit=voxels, or give labels with a spacing (NIfTI)");
  return *spacing;
}

[[noreturn]] void fail_to_compare(const Compared& compared, const VolumeHeader& truth,
                                  const VolumeHeader& predicted) {
  if (predicted.shape != truth.shape)
    throw Error(cat("prediction and label of ", compared.id,
                    " differ: ", compared.predicted.string(), " is ", describe(predicted.shape),
                    ", but ", compared.truth.string(), " is ", describe(truth.shape)),
                "a prediction has the shape of its image");
  throw Error(
      cat("prediction and label of ", compared.id,
          " lie in different places: ", compared.predicted.string(), " has ",
          describe_place(predicted), ", ", compared.truth.string(), " has ", describe_place(truth)),
      same_place(truth, predicted) == SamePlace::unknown
          ? "if their voxels belong together one by one, set files.same_grid=true, or copy the "
            "affine of the label into the prediction"
          : "bring the prediction onto the grid of the label, for example with nibabel's "
            "resample_from_to and order=0");
}

// The distance of each class, without the voxels that the label marks as ignored.
std::vector<std::optional<double>> distances_of(const std::vector<std::uint8_t>& truth,
                                                const std::vector<std::uint8_t>& predicted,
                                                const Shape& shape, const Spacing& spacing,
                                                const VolumeOptions& options) {
  const auto ignore = options.ignore();
  std::vector<std::optional<double>> distances;
  for (std::int64_t c = 1; c < std::max<std::int64_t>(2, options.data.classes); ++c) {
    const auto of_class = [&](const std::vector<std::uint8_t>& labels) {
      return Mask::where(shape,
                         [&](std::size_t i) { return labels[i] == c && truth[i] != ignore; });
    };
    distances.push_back(hausdorff_95(of_class(truth), of_class(predicted), spacing));
  }
  return distances;
}

// How the prediction is turned to the axes of its label. Nothing if the two cannot be compared.
std::optional<AxisMap> axes_of(const VolumeHeader& truth, const VolumeHeader& predicted,
                               const VolumeOptions& options) {
  if (predicted.shape.channels != truth.shape.channels) return std::nullopt;
  if (!options.files.same_grid) return axes_onto(truth, predicted);
  return predicted.shape == truth.shape ? std::optional(AxisMap()) : std::nullopt;
}

Scores score_one(const Compared& compared, const VolumeOptions& options, bool mm) {
  const auto truth_reader = open_volume(compared.truth, options.read_volume(true));
  const auto reader = open_volume(compared.predicted, options.read_volume(true));
  const VolumeHeader &of_truth = truth_reader->header(), &of_mask = reader->header();
  const std::optional<AxisMap> axes = axes_of(of_truth, of_mask, options);
  if (!axes) fail_to_compare(compared, of_truth, of_mask);
  const Shape shape{of_truth.shape.depth, of_truth.shape.height, of_truth.shape.width};
  const bool unit_mm = options.scoring.unit == ToleranceUnit::mm;
  const auto truth = read_labels(*truth_reader, options.data.classes, options.ignore());
  auto predicted = read_labels(*reader, options.data.classes, std::nullopt);
  Scores scores{.turned = *axes != AxisMap(),
                .one_has_no_place = !options.files.same_grid &&
                                    has_place(of_truth) != has_place(of_mask) &&
                                    same_place(of_truth, of_mask) == SamePlace::unknown};
  if (scores.turned) predicted = turned(predicted, of_mask.shape, *axes);
  scores.record = evaluate_volume(truth, predicted, shape, spacing_of(*truth_reader, unit_mm),
                                  {.classes = options.data.classes,
                                   .ignore = options.ignore(),
                                   .topology = has_surfaces(options),
                                   .tolerance = options.scoring.tolerance,
                                   .tolerance_mm = unit_mm});
  scores.hausdorff_95 =
      distances_of(truth, predicted, shape, spacing_of(*truth_reader, mm), options);
  return scores;
}

// About 10 bytes per voxel: labels, prediction, bit masks of both and of their surfaces, runs,
// distances.
double score_bytes(const Compared& compared, const VolumeOptions& options) {
  const VolumeShape shape = open_volume(compared.truth, options.read_volume(true))->header().shape;
  return 10 * static_cast<double>(shape.depth * shape.height * shape.width);
}

double number_or_nan(const std::optional<double>& value) {
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

// The mean of the values that are defined; NaN if none is.
template <class Values, class Value>
double mean_of_defined(const Values& values, Value value) {
  double sum = 0;
  std::int64_t count = 0;
  for (const auto& one : values)
    if (const double number = value(one); !std::isnan(number)) {
      sum += number;
      ++count;
    }
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

std::vector<Column> columns_of(const VolumeOptions& options, const std::string& unit) {
  std::vector<Column> columns{
      {"dice", [](const Scores& scores) { return scores.record.dice(); }},
      {"iou", [](const Scores& scores) { return scores.record.iou(); }},
      {.name = "hd95",
       .value =
           [](const Scores& scores) { return mean_of_defined(scores.hausdorff_95, number_or_nan); },
       .unit = unit,
       .lower_is_better = true}};
  const auto add = [&](const char* name, double VolumeRecord::*value) {
    columns.push_back({name, [=](const Scores& scores) { return scores.record.*value; }});
  };
  if (has_surfaces(options)) {
    add("score", &VolumeRecord::score);
    add("surface_dice", &VolumeRecord::surface_dice);
    add("voi_score", &VolumeRecord::voi_score);
    add("topology_score", &VolumeRecord::topology_score);
  }
  const auto classes = static_cast<std::size_t>(options.data.classes);
  for (std::size_t c = 1; c < classes && classes > 2; ++c) {
    columns.push_back({cat("dice_", c), [=](const Scores& scores) {
                         const OverlapCounts& counts = scores.record.classes.at(c);
                         const bool is_there = counts.truth + counts.predicted > 0;
                         return is_there ? dice(counts) : number_or_nan(std::nullopt);
                       }});
    columns.push_back(
        {.name = cat("hd95_", c),
         .value =
             [=](const Scores& scores) { return number_or_nan(scores.hausdorff_95.at(c - 1)); },
         .unit = unit,
         .lower_is_better = true});
  }
  return columns;
}

std::string table_number(double value) { return std::isnan(value) ? "-" : fixed(value, 4); }

void say_table(const std::vector<Compared>& compared, const std::vector<Scores>& scores,
               const std::vector<Column>& columns, const Say& say) {
  int width = 2;
  for (const Compared& volume : compared) width = std::max(width, cells_of(volume.id));
  std::string line = pad_cells("id", width);
  for (const Column& column : columns) line += cat("  ", pad_cells_left(column.name, 6));
  say(line);
  for (std::size_t i = 0; i < compared.size(); ++i) {
    line = pad_cells(compared[i].id, width);
    for (const Column& column : columns)
      line += cat("  ", pad_cells_left(table_number(column.value(scores[i])),
                                       std::max(6, cells_of(column.name))));
    say(line);
  }
}

// Reports comparisons that needed special treatment.
void say_notes(const std::vector<Scores>& scores, const Say& say) {
  const auto count_of = [&](auto is_meant) {
    return std::count_if(scores.begin(), scores.end(), is_meant);
  };
  const auto are = [](std::int64_t count, const char* noun) {
    return cat(count, " ", noun, count == 1 ? " is" : "s are");
  };
  if (const auto count = count_of([](const Scores& one) { return one.turned; }); count > 0)
    say(cat(are(count, "prediction"),
            " stored along other axes than the label, and turned to them by the affine"));
  if (const auto count = count_of([](const Scores& one) { return one.one_has_no_place; });
      count > 0)
    say(cat("warning: ", are(count, "pair"),
            " compared voxel by voxel as stored: only one of the two files has an affine"));
  const auto lacks = [](const Scores& one) {
    return std::any_of(one.hausdorff_95.begin(), one.hausdorff_95.end(),
                       [](const auto& distance) { return !distance; });
  };
  if (const auto count = count_of(lacks); count > 0)
    say(cat("hd95 leaves out ", count, count == 1 ? " volume" : " volumes",
            " in classes that are not in both label and prediction"));
}

void write_summary(const VolumeOptions& options, const ScoreContext& context,
                   const std::vector<Compared>& compared, const std::vector<Scores>& scores,
                   const std::string& unit, const Say& say) {
  const bool is_named = !options.scoring.summary.empty();
  std::error_code ignored;
  if (options.scoring.summary == "none") return;
  const bool is_zip = !fs::is_directory(context.predictions, ignored);
  if (!is_named && is_zip) return;
  const fs::path file =
      is_named ? fs::path(options.scoring.summary) : context.predictions / "summary.json";
  if (!is_named && !may_replace_summary(file))
    return say(
        cat("warning: ", file.string(),
            " is another program's and stays; score.summary=FILE writes this one's summary"));
  std::vector<ScoredCase> cases;
  for (std::size_t i = 0; i < compared.size(); ++i)
    cases.push_back({.prediction = is_zip ? context.predictions / compared[i].predicted.filename()
                                          : compared[i].predicted,
                     .reference = compared[i].truth,
                     .classes = scores[i].record.classes,
                     .hausdorff_95 = scores[i].hausdorff_95});
  try {
    write_file_atomic(file, json_file_text(summary_of(cases, unit)));
    say(cat("summary ", file.string()));
  } catch (const Error& error) {
    if (is_named) throw;
    say(cat("warning: there is no summary: ", error.what()));
  }
}

}  // namespace

std::vector<Score> score_volumes(VolumeOptions& options, const ScoreContext& context) {
  const Say say = context.say ? context.say : [](const std::string&) {};
  const TemporaryDirectory scratch;
  const Volumes predictions = list_predictions(context.predictions, scratch.path());
  const fs::path labels = truth_folder(options, predictions);
  take_dataset(options, labels, context.predictions, say);
  const std::vector<Compared> compared = find_compared(options, context, predictions, labels, say);
  const bool mm = measures_mm(options, compared);
  const std::string unit = mm ? "mm" : "voxels";
  std::vector<Scores> scores(compared.size());
  run_parallel({.count = compared.size(),
                .bytes = [&](std::size_t i) { return score_bytes(compared[i], options); },
                .run = [&](std::size_t i) { scores[i] = score_one(compared[i], options, mm); }});
  const std::vector<Column> columns = columns_of(options, unit);
  say_table(compared, scores, columns, say);
  say_notes(scores, say);
  write_summary(options, context, compared, scores, unit, say);
  std::vector<Score> means;
  for (const Column& column : columns)
    means.push_back({.name = column.name,
                     .value = mean_of_defined(scores, column.value),
                     .unit = column.unit,
                     .lower_is_better = column.lower_is_better});
  means.push_back({.name = "volumes", .value = static_cast<double>(scores.size())});
  return means;
}

}  // namespace lockstep::volume
