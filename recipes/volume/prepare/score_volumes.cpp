// Masks in files against labels in files.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <system_error>

#include "base/cells.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "media/zip_reader.h"
#include "recipes/volume/files/volume_reader.h"
#include "recipes/volume/metrics/volume_record.h"
#include "recipes/volume/prepare/find_volumes.h"
#include "recipes/volume/prepare/parallel.h"
#include "recipes/volume/prepare/prepare.h"
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
  double dice = 0, iou = 0;
  double score = 0, surface_dice = 0, voi_score = 0, topology_score = 0;
};

bool has_surfaces(const VolumeOptions& options) {
  return options.scoring.topology && options.data.classes == 1;
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
    for (const auto& [id, label] : list_volumes(path / name))
      if (predictions.contains(id)) return path / name;
  }
  if (first.empty())
    throw Error(
        cat("there are no labels in ", path.string(), ": it has none of the folders ",
            join(std::vector<std::string>(label_folders.begin(), label_folders.end()), ", ")),
        "name their folder with labels=FOLDER");
  return first;
}

// The ids of predict.csv, or those of all labels.
std::vector<std::string> wanted_ids(const VolumeOptions& options, const Volumes& labels) {
  std::vector<std::string> ids;
  if (!options.predict.csv.empty())
    for (const TableId& row : read_ids(options.predict.csv)) ids.push_back(row.id);
  else
    for (const auto& [id, path] : labels) ids.push_back(id);
  return ids;
}

const fs::path* find_volume(const Volumes& volumes, const std::string& id) {
  const auto found = volumes.find(id);
  return found == volumes.end() ? nullptr : &found->second;
}

// A folder, or a zip file that is unpacked into `scratch`.
Volumes list_predictions(const fs::path& path, const fs::path& scratch) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return list_volumes(path);
  if (!fs::exists(path, ignored) || path.extension() != ".zip")
    throw Error(cat(path.string(), fs::exists(path, ignored) ? " is no folder" : " is not there"),
                "predictions=PATH names the folder of the masks, or a zip file of them");
  ZipReader zip(path);
  for (std::size_t i = 0; i < zip.entries().size(); ++i)
    if (!volume_suffix(zip.entries()[i].name).empty()) zip.extract(i, scratch);
  return list_volumes(scratch);
}

std::vector<Compared> find_compared(const VolumeOptions& options, const ScoreContext& context,
                                    const fs::path& scratch, const Say& say) {
  const Volumes predictions = list_predictions(context.predictions, scratch);
  const fs::path folder = truth_folder(options, predictions);
  const Volumes labels = list_volumes(folder);
  std::vector<Compared> compared;
  std::vector<std::string> missing;
  for (const std::string& id : wanted_ids(options, labels)) {
    const fs::path* const truth = find_volume(labels, id);
    if (truth == nullptr)
      throw Error(cat("the volume ", id, " has no label in ", folder.string()),
                  nearest_hint(id, labels));
    if (const fs::path* const predicted = find_volume(predictions, id))
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

// Of a label; 1 where voxels are counted.
Spacing spacing_of(const VolumeOptions& options, const VolumeReader& truth) {
  if (options.scoring.unit == ToleranceUnit::voxels) return {1, 1, 1};
  const auto& spacing = truth.header().spacing_mm;
  if (!spacing)
    throw Error(cat("score.unit is mm, but ", truth.name(), " does not say its spacing"),
                "set score.unit=voxels, or give labels with a spacing (NIfTI)");
  return *spacing;
}

Scores score_one(const Compared& compared, const VolumeOptions& options) {
  const auto truth_reader = open_volume(compared.truth, options.read_volume(true));
  const auto reader = open_volume(compared.predicted, options.read_volume(true));
  const VolumeShape& shape = truth_reader->header().shape;
  if (reader->header().shape != shape)
    throw Error(cat("prediction and label of ", compared.id, " differ: ",
                    compared.predicted.string(), " is ", describe(reader->header().shape), ", but ",
                    compared.truth.string(), " is ", describe(shape)),
                "a prediction has the shape of its image");
  const Spacing spacing = spacing_of(options, *truth_reader);
  const auto truth = read_labels(*truth_reader, options.data.classes, options.ignore());
  const auto predicted = read_labels(*reader, options.data.classes, std::nullopt);
  const VolumeRecord found =
      evaluate_volume(truth, predicted, {shape.depth, shape.height, shape.width}, spacing,
                      {.classes = options.data.classes,
                       .ignore = options.ignore(),
                       .topology = has_surfaces(options),
                       .tolerance = options.scoring.tolerance,
                       .tolerance_mm = options.scoring.unit == ToleranceUnit::mm});
  return {.dice = found.dice(),
          .iou = found.iou(),
          .score = found.score,
          .surface_dice = found.surface_dice,
          .voi_score = found.voi_score,
          .topology_score = found.topology_score};
}

// Labels, prediction, bits of both and of their surfaces, runs: about 8 bytes a voxel.
double score_bytes(const Compared& compared, const VolumeOptions& options) {
  const VolumeShape shape = open_volume(compared.truth, options.read_volume(true))->header().shape;
  return 8 * static_cast<double>(shape.depth * shape.height * shape.width);
}

struct Column {
  const char* name;
  double Scores::*value;
};

std::vector<Column> columns_of(const VolumeOptions& options) {
  std::vector<Column> columns{{"dice", &Scores::dice}, {"iou", &Scores::iou}};
  if (has_surfaces(options))
    columns.insert(columns.end(), {{"score", &Scores::score},
                                   {"surface_dice", &Scores::surface_dice},
                                   {"voi_score", &Scores::voi_score},
                                   {"topology_score", &Scores::topology_score}});
  return columns;
}

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
      line += cat("  ", pad_cells_left(fixed(scores[i].*column.value, 4),
                                       std::max(6, cells_of(column.name))));
    say(line);
  }
}

}  // namespace

std::vector<Score> score_volumes(const VolumeOptions& options, const ScoreContext& context) {
  const Say say = context.say ? context.say : [](const std::string&) {};
  const TemporaryDirectory scratch;
  const std::vector<Compared> compared = find_compared(options, context, scratch.path(), say);
  std::vector<Scores> scores(compared.size());
  run_parallel({.count = compared.size(),
                .bytes = [&](std::size_t i) { return score_bytes(compared[i], options); },
                .run = [&](std::size_t i) { scores[i] = score_one(compared[i], options); }});
  const std::vector<Column> columns = columns_of(options);
  say_table(compared, scores, columns, say);
  std::vector<Score> means;
  for (const Column& column : columns) {
    double sum = 0;
    for (const Scores& volume : scores) sum += volume.*column.value;
    means.push_back({.name = column.name, .value = sum / static_cast<double>(scores.size())});
  }
  means.push_back({.name = "volumes", .value = static_cast<double>(scores.size())});
  return means;
}

}  // namespace lockstep::volume
