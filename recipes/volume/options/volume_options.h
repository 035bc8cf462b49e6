// All options of the volume recipe, and values that follow from the options alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/options/prepared_options.h"
#include "recipes/volume/files/volume_header.h"
#include "recipes/volume/voxels/statistics.h"

namespace lockstep::volume {

enum class Save { mask, probabilities };
enum class TileWeights { gaussian, uniform };
enum class ToleranceUnit { voxels, mm };

// The residual attention U-Net. It has `width` channels at full resolution, and twice as many at
// each further level down.
struct NetShape {
  std::int64_t channels = 1;  // of the input
  std::int64_t outputs = 1;   // logits per voxel: 1 for a single class, else one per class
  std::int64_t width = 32, depth = 4;
  bool attention = true;
  double dropout = 0.2;           // at the deepest level; rises towards it from 0
  double decoder_dropout = 0.15;  // at the deepest decoder level; rises towards it from 0
  bool deep_supervision = false;
};
std::int64_t parameter_count(const NetShape& shape);
std::int64_t bottleneck(
    std::int64_t width);  // channels between the two layers of channel attention

struct VolumeOptions : PreparedOptions<VolumeOptions> {
  VolumeOptions();  // fills `table`

  struct {
    std::int64_t width = 32, depth = 4;
    bool attention = true, deep_supervision = false;
    double dropout = 0.2, decoder_dropout = 0.15;
  } model;
  struct {
    std::string path;            // empty: a small generated set
    std::string images, labels;  // folders; empty: found in `path`
    // has a column `id`; empty: path/train.csv, or all pairs of equal names
    std::string csv;
    std::vector<std::string> valid;  // ids, or a file of them; empty: valid_share, or a fold
    double valid_share = 0.2;        // share of the volumes; for a single volume, of its planes
    std::int64_t folds = 0, fold = 0;
    std::int64_t classes = 1;   // 1: foreground or not; more: one class per voxel, background too
    std::int64_t ignore = 2;    // label that is left out; -1: none
    std::int64_t channels = 0;  // 0: as many as the files have
    Normalize normalize = Normalize::divide;
    double divide = 0;                     // 0: 255 for u8, 65,535 for u16, 1 for others
    std::vector<std::string> patch{"64"};  // z,y,x or one number for all; voxels
    std::vector<std::string> spacing;      // z,y,x in mm to resample to; empty: as it is
    bool pad = false;                      // allow volumes that are smaller than a patch
    std::int64_t patches = 8;              // for each volume, per epoch
    double positive = 0.6;                 // share of patches around a voxel of foreground
    double cache_gb = 0;                   // 0: as much as the disk has room for
  } data;
  struct {                   // how files are read; a run may change these
    bool same_grid = false;  // affines of image and label may differ
    bool as_planes = false;  // read channels or times of one plane, as TIFFs state them, as planes
  } files;
  struct {
    bool flip = true, rotate90 = true;
    double brightness = 0.2, contrast = 0.3;
    double rotate = 0;   // degrees
    double scale = 0;    // share
    double elastic = 0;  // voxels
    double gamma = 0;    // share
    double noise = 0;    // standard deviation, of normalised values
  } augment;
  struct {
    double dice = 0.6, focal = 0.2, bce = 0.2, focal_alpha = 0.25, focal_gamma = 2;
  } loss;
  struct {
    double tolerance = 2;
    ToleranceUnit unit = ToleranceUnit::voxels;
    bool topology = true;
    std::string labels;   // for `lockstep score`; empty: found below data.path
    std::string summary;  // file; empty: summary.json in the folder of predictions; "none"
  } scoring;              // score.*
  struct {
    std::string images;      // folder; empty: data.path/test_images
    std::string csv;         // ids; empty: data.path/test.csv
    std::string submission;  // "submission.zip"
    Save save = Save::mask;
    double threshold = 0.5;
    std::int64_t min_component = 0;  // voxels
    // The overlap of tiles, also in evaluation.
    double overlap = 0.5;
    TileWeights weights = TileWeights::gaussian;
    std::int64_t batch = 0;  // windows computed at once; 0: 1 on a CPU, 16 on a GPU
    bool flips = false;      // mean over flips along all axes
  } predict;

  std::array<std::int64_t, 3> patch() const;  // throws Error
  // The number of passes of the network over a volume of these extents (z,y,x), in evaluation and
  // prediction. Each tile that SlidingWindows cuts (training/evaluation/sliding_windows.h) has one
  // pass for every flip.
  double passes_over(const std::array<std::int64_t, 3>& extents) const;
  std::optional<std::array<double, 3>> spacing() const;  // throws Error
  std::optional<std::int64_t> ignore() const;
  ReadVolume read_volume(bool labels = false) const;
  std::int64_t outputs() const { return data.classes == 1 ? 1 : data.classes; }
  NetShape net(std::int64_t channels) const;
  bool made() const { return data.path.empty() && data.images.empty(); }

  void defaults(TrainOptions& train, bool has_gpu) const override;
  void check(const TrainOptions& train) const override;
  void check_labels() const;  // the part of `check` that concerns data.classes and data.ignore
  std::vector<std::string> metric_names() const override;
  std::optional<BuiltIn> built_in() const override;
  bool low_precision() const override { return true; }
  PredictInput predict_input() const override;
  MemoryEstimate memory(const TrainOptions& train, const Facts& facts) const override;
  std::optional<double> flops_per_sample(const Facts& facts) const override;
  bool can_score() const override { return true; }
};

const std::vector<Preset>& presets();
std::vector<Synonym> synonyms();  // what other programs call these options

}  // namespace lockstep::volume

namespace lockstep {

template <>
struct EnumNames<volume::Normalize> {
  static constexpr std::pair<volume::Normalize, const char*> value[] = {
      {volume::Normalize::divide, "divide"},
      {volume::Normalize::zscore, "zscore"},
      {volume::Normalize::percentile, "percentile"},
      {volume::Normalize::ct, "ct"}};
};
template <>
struct EnumNames<volume::Save> {
  static constexpr std::pair<volume::Save, const char*> value[] = {
      {volume::Save::mask, "mask"}, {volume::Save::probabilities, "probabilities"}};
};
template <>
struct EnumNames<volume::TileWeights> {
  static constexpr std::pair<volume::TileWeights, const char*> value[] = {
      {volume::TileWeights::gaussian, "gaussian"}, {volume::TileWeights::uniform, "uniform"}};
};
template <>
struct EnumNames<volume::ToleranceUnit> {
  static constexpr std::pair<volume::ToleranceUnit, const char*> value[] = {
      {volume::ToleranceUnit::voxels, "voxels"}, {volume::ToleranceUnit::mm, "mm"}};
};

}  // namespace lockstep
